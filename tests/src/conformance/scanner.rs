//! Reads words, quoted strings and punctuation out of the text of a case.

/// What is wrong with the text of a case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// The text stops inside a bracket; the next line may go on with it.
    #[error("unexpected end")]
    End,
    /// Something else was needed here.
    #[error("expected {wanted} before `{rest}`")]
    Expected {
        /// What was needed.
        wanted: &'static str,
        /// The text that stands there instead.
        rest: String,
    },
}

/// A position in a text.
pub(super) struct Scanner<'t> {
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest.is_empty()
    }

    /// Everything up to the end of the text.
    pub(super) fn take_rest(&mut self) -> &'t str {
        std::mem::take(&mut self.rest).trim_end()
    }

    /// Takes `token` if it stands here.
    pub(super) fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, token: &'static str) -> Result<(), SyntaxError> {
        if self.take(token) {
            Ok(())
        } else {
            Err(self.expected(token))
        }
    }

    /// Characters up to a space or a piece of punctuation.
    pub(super) fn word(&mut self) -> &'t str {
        self.skip_space();
        let is_end = |c: char| c.is_whitespace() || ",]}".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// A quoted string, which `*N` behind it repeats.
    pub(super) fn string(&mut self) -> Result<Vec<u8>, SyntaxError> {
        self.expect("\"")?;
        let mut bytes = Vec::new();
        loop {
            let c = self.next_char()?;
            match c {
                '"' => break,
                '\\' => bytes.push(self.escaped()?),
                _ => bytes.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        let Some(rest) = self.rest.strip_prefix('*') else {
            return Ok(bytes);
        };
        self.rest = rest;
        let times = self.word().parse().map_err(|_| self.expected("a count"))?;
        Ok(bytes.repeat(times))
    }

    fn escaped(&mut self) -> Result<u8, SyntaxError> {
        Ok(match self.next_char()? {
            'r' => b'\r',
            'n' => b'\n',
            't' => b'\t',
            '0' => 0,
            'x' => {
                let digits = self.rest.get(..2).ok_or(SyntaxError::End)?;
                let byte = u8::from_str_radix(digits, 16)
                    .map_err(|_| self.expected("two hexadecimal digits"))?;
                self.rest = &self.rest[2..];
                byte
            }
            c if c.is_ascii_punctuation() => c as u8,
            _ => return Err(self.expected("an escape")),
        })
    }

    fn next_char(&mut self) -> Result<char, SyntaxError> {
        let c = self.rest.chars().next().ok_or(SyntaxError::End)?;
        self.rest = &self.rest[c.len_utf8()..];
        Ok(c)
    }

    pub(super) fn expected(&self, wanted: &'static str) -> SyntaxError {
        if self.rest.is_empty() {
            SyntaxError::End
        } else {
            SyntaxError::Expected {
                wanted,
                rest: self.rest.to_owned(),
            }
        }
    }
}

/// The arguments of a command: bare words, and quoted strings for everything else.
pub(super) fn arguments(text: &str) -> Result<Vec<Vec<u8>>, SyntaxError> {
    let mut arguments = Vec::new();
    let mut scanner = Scanner::new(text);
    while !scanner.at_end() {
        let argument = if scanner.rest.starts_with('"') {
            scanner.string()?
        } else {
            let rest = scanner.rest;
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            scanner.rest = &rest[end..];
            rest.as_bytes()[..end].to_vec()
        };
        arguments.push(argument);
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_arguments_may_hold_any_byte_and_be_repeated() {
        let arguments = arguments(r#"SET "a b\x00\r\n" "xy"*3"#).expect("well-formed");
        assert_eq!(arguments, [&b"SET"[..], b"a b\x00\r\n", b"xyxyxy"]);
    }

    #[test]
    fn an_open_quote_is_an_unexpected_end() {
        assert_eq!(arguments("GET \"k"), Err(SyntaxError::End));
    }
}
