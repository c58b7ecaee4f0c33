//! Connections to a store: redis-rs over streams that count the bytes they carry.
//!
//! The client is the one a service would use. Only the stream underneath is ours, because no client
//! tells how many bytes went over the wire. With TLS the bytes inside the encryption are counted.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use redis::aio::{MultiplexedConnection, PubSub};
use redis::{AsyncConnectionConfig, ConnectionAddr};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use crate::error::Error;
use crate::target::RedisUrl;

/// A server that does not accept a connection or a login for so long is unreachable.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes that went over all connections of one pool.
#[derive(Debug, Default)]
pub(crate) struct WireBytes {
    read: AtomicU64,
    written: AtomicU64,
}

impl WireBytes {
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }
}

/// A connection for commands, driven by a task of the present runtime. It waits for replies without
/// limit: a server that stalls has to appear in the response times, not as an error.
pub(crate) async fn connect(
    url: &RedisUrl,
    wire: &Arc<WireBytes>,
) -> Result<MultiplexedConnection, Error> {
    within_timeout(url, async {
        let stream = open_stream(url, wire).await?;
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let (connection, driver) =
            MultiplexedConnection::new_with_config(url.info().redis_settings(), stream, config)
                .await
                .map_err(|error| connect_error(url, &error))?;
        tokio::spawn(driver);
        Ok(connection)
    })
    .await
}

/// A connection for subscriptions.
pub(crate) async fn subscribe(
    url: &RedisUrl,
    wire: &Arc<WireBytes>,
    channel: &str,
) -> Result<PubSub, Error> {
    within_timeout(url, async {
        let stream = open_stream(url, wire).await?;
        let mut connection = PubSub::new(url.info().redis_settings(), stream)
            .await
            .map_err(|error| connect_error(url, &error))?;
        connection
            .subscribe(channel)
            .await
            .map_err(|error| Error::Store {
                doing: format!("SUBSCRIBE {channel}"),
                cause: error.to_string(),
            })?;
        Ok(connection)
    })
    .await
}

/// A blocking connection for what stands beside the measurement: seeding, INFO, clean-up.
pub(crate) fn connect_blocking(url: &RedisUrl) -> Result<redis::Connection, Error> {
    install_crypto_provider();
    let connection = redis::Client::open(url.info().clone())
        .and_then(|client| client.get_connection_with_timeout(CONNECT_TIMEOUT))
        .map_err(|error| connect_error(url, &error))?;
    for result in [
        connection.set_read_timeout(Some(Duration::from_secs(30))),
        connection.set_write_timeout(Some(Duration::from_secs(30))),
    ] {
        result.map_err(|error| connect_error(url, &error))?;
    }
    Ok(connection)
}

/// A server that cannot be reached, or one that refuses the login.
pub(crate) fn connect_error(url: &RedisUrl, error: &redis::RedisError) -> Error {
    let target = url.to_string();
    let cause = error.to_string();
    let login = error.kind() == redis::ErrorKind::AuthenticationFailed
        || ["NOAUTH", "WRONGPASS"]
            .iter()
            .any(|code| error.code() == Some(code))
        || cause.contains("without any password configured");
    if login {
        Error::Login { target, cause }
    } else if error.code().is_some() {
        // The server is there, and says what it does not like.
        let doing = format!("connecting to {target}");
        Error::Store { doing, cause }
    } else {
        not_connected(target, cause)
    }
}

fn unreachable(url: &RedisUrl, error: &io::Error) -> Error {
    not_connected(url.to_string(), error.to_string())
}

/// A refused certificate comes as any other I/O error; only its text tells.
fn not_connected(target: String, cause: String) -> Error {
    if cause.contains("temporarily unavailable") {
        // How a blocking read tells that its time is over.
        let seconds = CONNECT_TIMEOUT.as_secs();
        let cause = format!("no answer within {seconds} s that fits the URL's scheme");
        Error::Unreachable { target, cause }
    } else if cause.contains("certificate") {
        Error::Certificate { target, cause }
    } else {
        Error::Unreachable { target, cause }
    }
}

async fn within_timeout<T>(
    url: &RedisUrl,
    connecting: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    tokio::time::timeout(CONNECT_TIMEOUT, connecting)
        .await
        .unwrap_or_else(|_| {
            Err(Error::Unreachable {
                target: url.to_string(),
                cause: format!("no answer within {} s", CONNECT_TIMEOUT.as_secs()),
            })
        })
}

/// Any byte stream a client can speak over.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

async fn open_stream(url: &RedisUrl, wire: &Arc<WireBytes>) -> Result<CountedStream, Error> {
    let inner: Box<dyn Stream> = match url.info().addr() {
        ConnectionAddr::Unix(path) => Box::new(
            UnixStream::connect(path)
                .await
                .map_err(|error| unreachable(url, &error))?,
        ),
        ConnectionAddr::Tcp(host, port) => Box::new(open_tcp(url, host, *port).await?),
        ConnectionAddr::TcpTls {
            host,
            port,
            insecure,
            ..
        } => {
            if *insecure {
                return Err(Error::Usage(
                    "#insecure is not supported: put the server's certificate authority in \
                     SSL_CERT_FILE instead"
                        .into(),
                ));
            }
            let tcp = open_tcp(url, host, *port).await?;
            Box::new(open_tls(url, host, tcp).await?)
        }
        other => {
            return Err(Error::Usage(format!(
                "{other} is not an address hotcopy can reach"
            )));
        }
    };
    Ok(CountedStream {
        inner,
        wire: Arc::clone(wire),
    })
}

async fn open_tcp(url: &RedisUrl, host: &str, port: u16) -> Result<TcpStream, Error> {
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(|error| unreachable(url, &error))?;
    stream
        .set_nodelay(true)
        .map_err(|error| unreachable(url, &error))?;
    Ok(stream)
}

async fn open_tls(
    url: &RedisUrl,
    host: &str,
    tcp: TcpStream,
) -> Result<impl Stream + use<>, Error> {
    install_crypto_provider();
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| Error::Usage(format!("{host}: {error}")))?;
    TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
        .map_err(|error| unreachable(url, &error))
}

/// redis-rs and our own TLS streams need one provider for the process; a second call is harmless.
fn install_crypto_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A stream that adds what it carries to the pool's count.
struct CountedStream {
    inner: Box<dyn Stream>,
    wire: Arc<WireBytes>,
}

impl AsyncRead for CountedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.inner).poll_read(context, buffer);
        let read = (buffer.filled().len() - before) as u64;
        self.wire.read.fetch_add(read, Ordering::Relaxed);
        poll
    }
}

impl AsyncWrite for CountedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = &poll {
            self.wire
                .written
                .fetch_add(*written as u64, Ordering::Relaxed);
        }
        poll
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
