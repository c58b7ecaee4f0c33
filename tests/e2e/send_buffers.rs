//! What the kernel may hold for a client, read back from the server's own sockets.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use hotcopy_tests::servers::Server;
use hotcopy_tests::{locate, skip};
use rustix::net::{getpeername, sockopt};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// The server's socket for the client at `client`, shared with it.
fn server_socket(server: Pid, client: SocketAddr) -> OwnedFd {
    let process = pidfd_open(server, PidfdFlags::empty()).expect("the server runs");
    let numbers = fs::read_dir(format!("/proc/{}/fd", server.as_raw_pid()));
    let mut sockets = numbers.expect("a process of ours").filter_map(|entry| {
        let number = entry.ok()?.file_name().to_str()?.parse().ok()?;
        pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).ok()
    });
    let is_wanted = |socket: &OwnedFd| {
        let peer = getpeername(socket).ok().flatten();
        peer.and_then(|peer| SocketAddr::try_from(peer).ok()) == Some(client)
    };
    sockets
        .find(is_wanted)
        .expect("the server has a socket for the client")
}

/// Bytes that the kernel lets the server queue for a client that reaches it at `address`.
fn send_buffer_bytes(server: &Server, address: IpAddr) -> usize {
    let port = server.port().parse().expect("a port is a number");
    let mut client = TcpStream::connect((address, port)).expect("it listens there");
    // After a reply, the server has set the options.
    client.write_all(b"PING\r\n").expect("it reads");
    client.read_exact(&mut [0; 7]).expect("it answers");
    let own = client.local_addr().expect("it is connected");
    let socket = server_socket(server.process.pid(), own);
    sockopt::socket_send_buffer_size(socket).expect("an option that every socket has")
}

/// The same for a server that sets no option.
fn untouched_send_buffer_bytes(address: IpAddr) -> usize {
    let listener = TcpListener::bind((address, 0)).expect("an address of ours");
    let to = listener.local_addr().expect("it is bound");
    let _client = TcpStream::connect(to).expect("it listens");
    let (accepted, _) = listener.accept().expect("somebody connected");
    sockopt::socket_send_buffer_size(accepted).expect("an option that every socket has")
}

#[test]
fn a_client_on_another_machine_has_the_send_buffer_that_the_kernel_chose() {
    let Some(address) = skip::require(locate::network_address()) else {
        return;
    };
    let bind = address.to_string();
    let server = Server::hotcopy(&["--bind", &bind, "--allow-no-password"]);
    let kept = send_buffer_bytes(&server, address);
    assert_eq!(kept, untouched_send_buffer_bytes(address));
}

#[test]
fn a_client_on_this_machine_has_a_small_send_buffer() {
    let server = Server::hotcopy(&[]);
    let address = IpAddr::from([127, 0, 0, 1]);
    let bounded = send_buffer_bytes(&server, address);
    // The kernel doubles the 64 KiB, for its bookkeeping.
    assert_eq!(bounded, 2 * 64 * 1024);
    assert!(bounded < untouched_send_buffer_bytes(address));
}
