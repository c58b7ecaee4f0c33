//! A store behind TLS.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotcopy_tests::locate;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;
use tempfile::TempDir;

use super::brief;

/// An authority of our own, and the certificate that it gives to localhost.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    fn make() -> Option<Self> {
        let openssl = require(locate::in_path("openssl"))?;
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let run = |line: &str| {
            let output = Command::new(&openssl)
                .args(line.split(' '))
                .current_dir(folder.path())
                .output()
                .expect("openssl runs");
            assert!(output.status.success(), "openssl {line}: {output:?}");
        };
        std::fs::write(
            folder.path().join("names"),
            "subjectAltName=DNS:localhost\n",
        )
        .expect("the folder can be written");
        run("req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority");
        run("req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost");
        run(
            "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt \
             -extfile names",
        );
        Some(Certificates { folder })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A real Redis that presents the certificate, and its URL.
    fn serve(&self) -> Option<(Server, String)> {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("loopback has a free port")
            .port()
            .to_string();
        let [certificate, key, authority] =
            ["server.crt", "server.key", "ca.crt"].map(|name| self.path(name));
        let [certificate, key, authority] =
            [&certificate, &key, &authority].map(|path| path.to_str().expect("a path of ours"));
        let server = require(Server::redis(&[
            "--tls-port",
            &port,
            "--tls-cert-file",
            certificate,
            "--tls-key-file",
            key,
            "--tls-ca-cert-file",
            authority,
            "--tls-auth-clients",
            "no",
        ]))?;
        Some((server, format!("rediss://localhost:{port}")))
    }
}

fn cost(url: &str, authority: &Path, out: &Path) -> Output {
    Command::new(locate::hotcopy())
        .arg("cost")
        .args(brief(&[url]))
        .arg("--out")
        .arg(out)
        .env("SSL_CERT_FILE", authority)
        .output()
        .expect("hotcopy runs")
}

#[test]
fn a_store_behind_tls_is_read_if_its_certificate_is_trusted_and_refused_if_not() {
    let Some(certificates) = Certificates::make() else {
        return;
    };
    let Some((_server, url)) = certificates.serve() else {
        return;
    };
    let out = certificates.path("cost.json");
    let trusted = cost(&url, &certificates.path("ca.crt"), &out);
    assert_eq!(trusted.status.code(), Some(0), "{trusted:?}");
    let printed = String::from_utf8_lossy(&trusted.stdout);
    assert!(printed.contains(&url), "{printed}");

    // A file with another authority's certificates, or none.
    let refused = cost(&url, &certificates.path("names"), &out);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("SSL_CERT_FILE"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}
