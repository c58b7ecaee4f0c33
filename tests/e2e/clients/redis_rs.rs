//! redis-rs: the blocking client, the multiplexed one on both protocols, publish and subscribe.

use std::time::Duration;

use futures_util::StreamExt;
use hotcopy_tests::servers::Server;
use redis::{AsyncTypedCommands, TypedCommands};

fn client(server: &Server, query: &str) -> redis::Client {
    redis::Client::open(format!("redis://127.0.0.1:{}/{query}", server.port()))
        .expect("a well-formed address")
}

#[test]
fn the_blocking_client_of_redis_rs_works() {
    let server = Server::hotcopy(&[]);
    let mut connection = client(&server, "1").get_connection().expect("a connection");
    connection.set("k", "v").expect("a reply");
    assert_eq!(connection.get("k").expect("a reply").as_deref(), Some("v"));
    assert_eq!(connection.get("missing").expect("a reply"), None);
    assert!(connection.expire("k", 100).expect("a reply"));
    let found: Vec<String> = connection
        .scan_match("k*")
        .expect("a reply")
        .map(|key| key.expect("a key"))
        .collect();
    assert_eq!(found, ["k"]);
    // Database 0 is another one.
    let mut other = client(&server, "").get_connection().expect("a connection");
    assert!(!other.exists("k").expect("a reply"));
}

#[test]
fn redis_rs_works_over_the_unix_socket() {
    let server = Server::hotcopy(&[]);
    let address = format!("redis+unix://{}", server.unix_path().display());
    let mut connection = redis::Client::open(address)
        .expect("a well-formed address")
        .get_connection()
        .expect("a connection");
    connection.set("k", "v").expect("a reply");
    assert_eq!(connection.get("k").expect("a reply").as_deref(), Some("v"));
}

async fn the_multiplexed_client_works(query: &str) {
    let server = Server::hotcopy(&["--threads", "2"]);
    let connection = client(&server, query)
        .get_multiplexed_async_connection()
        .await
        .expect("a connection");
    let requests = (0..200).map(|index| {
        let mut connection = connection.clone();
        async move {
            let key = format!("key:{index}");
            connection.set(&key, index).await.expect("a reply");
            connection.get(&key).await.expect("a reply")
        }
    });
    let values = futures_util::future::join_all(requests).await;
    for (index, value) in values.into_iter().enumerate() {
        assert_eq!(value, Some(index.to_string()));
    }
    let mut connection = connection;
    let (old, length): (Option<String>, usize) = redis::pipe()
        .cmd("GETSET")
        .arg(&["key:7", "seven"])
        .cmd("STRLEN")
        .arg("key:7")
        .query_async(&mut connection)
        .await
        .expect("replies");
    assert_eq!((old.as_deref(), length), (Some("7"), 5));
}

#[tokio::test]
async fn the_multiplexed_client_of_redis_rs_works_on_resp2() {
    the_multiplexed_client_works("").await;
}

#[tokio::test]
async fn the_multiplexed_client_of_redis_rs_works_on_resp3() {
    the_multiplexed_client_works("?protocol=resp3").await;
}

#[tokio::test]
async fn redis_rs_receives_what_is_published() {
    let server = Server::hotcopy(&["--threads", "2"]);
    let client = client(&server, "");
    let mut subscriber = client.get_async_pubsub().await.expect("a connection");
    subscriber.subscribe("news").await.expect("a reply");
    let mut publisher = client
        .get_multiplexed_async_connection()
        .await
        .expect("a connection");
    assert_eq!(
        publisher.publish("news", "hello").await.expect("a reply"),
        1
    );
    let mut messages = subscriber.on_message();
    let message = tokio::time::timeout(Duration::from_secs(10), messages.next())
        .await
        .expect("a message in time")
        .expect("the connection stays");
    let payload: String = message.get_payload().expect("text");
    assert_eq!(
        (message.get_channel_name(), payload.as_str()),
        ("news", "hello")
    );
}
