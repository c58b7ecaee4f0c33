//! The client's side of writing: a command as an array of bulks.

/// Appends the request of these arguments, the command's name first. With no arguments it appends
/// `*0`, which servers skip.
///
/// ```
/// let mut out = Vec::new();
/// hotcopy_wire::resp::encode_command(&mut out, &["GET", "key"]);
/// assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
/// ```
pub fn encode_command<A: AsRef<[u8]>>(out: &mut Vec<u8>, args: &[A]) {
    // A header is at most a type byte, 20 digits and CR LF; most have one or two digits.
    const TYPICAL_FRAMING: usize = 8;
    out.reserve(
        args.iter()
            .map(|arg| arg.as_ref().len() + TYPICAL_FRAMING)
            .sum::<usize>()
            + TYPICAL_FRAMING,
    );
    super::encode::header(out, b'*', args.len());
    for arg in args {
        super::encode::blob(out, b'$', arg.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_written_byte_for_byte() {
        let mut out = Vec::new();
        encode_command(&mut out, &[&b"SET"[..], b"k\r\n", b"\x00\xff", b""]);
        assert_eq!(
            out,
            b"*4\r\n$3\r\nSET\r\n$3\r\nk\r\n\r\n$2\r\n\x00\xff\r\n$0\r\n\r\n"
        );
    }
}
