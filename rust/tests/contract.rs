//! The service from outside: the program itself, over HTTP, with its database away (C43).
//! Times are bounds that a busy machine cannot break, never an expectation of speed.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Mutex, MutexGuard},
    thread,
    time::{Duration, Instant},
};

use tungstenite::{
    Message, WebSocket,
    client::{IntoClientRequest, client},
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

const PATIENCE: Duration = Duration::from_secs(20);
const VARIABLES: [&str; 9] = [
    "HOST",
    "PORT",
    "DATABASE_URL",
    "DB_POOL_SIZE",
    "DB_ACQUIRE_TIMEOUT_MS",
    "UPSTREAM_URL",
    "UPSTREAM_TIMEOUT_MS",
    "WORKERS",
    "SERVER_THREADS",
];

// A free port is only free until somebody takes it: one start at a time.
static STARTING: Mutex<()> = Mutex::new(());

fn lock() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nsb-rust"));
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.env("DATABASE_URL", "mysql://user:secret@127.0.0.1:1/nsb"); // nobody listens on 1
    command
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

struct Service {
    process: Child,
    address: SocketAddr,
}

impl Service {
    fn start(settings: &[(&str, &str)]) -> Self {
        let _one_at_a_time = lock();
        let port = free_port();
        let mut command = program();
        command.env("PORT", port.to_string()).env("WORKERS", "2").stderr(Stdio::null());
        command.envs(settings.iter().copied());
        let service = Self {
            process: command.spawn().unwrap(),
            address: SocketAddr::from(([127, 0, 0, 1], port)),
        };
        until("the service listens", || TcpStream::connect(service.address).is_ok());
        service
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n");
        stream.write_all(format!("{head}{headers}\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        Answer::parse(&text)
    }

    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", b"")
    }

    fn post(&self, media_type: &str, body: &[u8]) -> Answer {
        let length = body.len();
        let headers = format!("Content-Type: {media_type}\r\nContent-Length: {length}\r\n");
        self.send("POST", "/books", &headers, body)
    }

    /// The head of an answer that goes on, and what the rest comes from.
    fn open(&self, path: &str) -> (Answer, BufReader<TcpStream>) {
        let mut stream = self.connect();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).unwrap(), 0, "the head ends: {head}");
        }
        (Answer::parse(&head), stream)
    }

    fn socket(&self, headers: &[(&'static str, &str)]) -> (WebSocket<TcpStream>, Vec<String>) {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let (socket, answer) = client(request, self.connect()).unwrap();
        (socket, answer.headers().keys().map(ToString::to_string).collect())
    }

    fn stat(&self, name: &str) -> f64 {
        let body = self.get("/stats").body;
        let stats: serde_json::Value = serde_json::from_str(&body).unwrap();
        stats[name].as_f64().unwrap()
    }

    fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    fn end(&mut self) -> ExitStatus {
        let mut status = None;
        until("the service ends", || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole answer");
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let split = |line: &str| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_ascii_lowercase(), value.trim().to_owned())
        };
        Self { status, headers: lines.map(split).collect(), body: body.into() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    fn is(&self, status: u16, media_type: &str, body: &str) {
        assert_eq!((self.status, self.body.as_str()), (status, body));
        assert_eq!(self.header("content-type").unwrap().split(';').next(), Some(media_type));
        assert_eq!(self.header("content-length"), Some(body.len().to_string().as_str()));
    }

    #[track_caller]
    fn is_json(&self, body: &str) {
        self.is(200, "application/json", body);
    }

    #[track_caller]
    fn is_problem(&self, status: u16, title: &str, detail: &str) {
        let body = format!(
            r#"{{"type":"about:blank","title":"{title}","status":{status},"detail":"{detail}"}}"#
        );
        self.is(status, "application/problem+json", &body);
    }
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Answers every call with one status, as long as the test runs.
fn upstream(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer_calls(stream.unwrap(), status));
        }
    });
    format!("http://{address}")
}

fn answer_calls(mut stream: TcpStream, status: &str) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    while let Some(Ok(line)) = lines.next() {
        if line.is_empty() {
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

#[test]
fn answers_about_itself() {
    let service = Service::start(&[("DB_POOL_SIZE", "7")]);
    service.get("/healthz").is_json(r#"{"status":"ok"}"#);
    let runtime: serde_json::Value = serde_json::from_str(&service.get("/runtime").body).unwrap();
    assert_eq!(runtime["workers"], 2);
    assert_eq!(runtime["pool_size"], 7);
    assert_eq!(runtime["settings"]["keep_alive_s"], 75);
    assert!(runtime["framework_version"].as_str().unwrap().starts_with("0."));
    let idle = r#"{"requests_total":0,"busy_seconds_total":0.0,"in_flight":0,"pool_in_use":0,"pool_waiting":0}"#;
    service.get("/stats").is_json(idle);
}

#[test]
fn waits_and_computes() {
    let service = Service::start(&[]);
    service.get("/hello").is(200, "text/plain", "hello");
    let start = Instant::now();
    service.get("/sleep?ms=50&unknown=1").is_json(r#"{"slept_ms":50}"#);
    assert!(start.elapsed() >= Duration::from_millis(50));
    service.get("/compute?rounds=1").is_json(r#"{"rounds":1,"result":723471715}"#);
    service.get("/compute?rounds=1000").is_json(r#"{"rounds":1000,"result":3298996588}"#);
    service.get("/block?ms=5&offload=false").is_json(r#"{"blocked_ms":5,"offloaded":false}"#);
    service.get("/block?ms=5&offload=true").is_json(r#"{"blocked_ms":5,"offloaded":true}"#);
}

#[test]
fn refuses_unknown_paths_and_methods() {
    let service = Service::start(&[]);
    for path in ["/", "/nope", "/hello/", "/HELLO", "/books/", "/books/1/2", "/events/", "/ws/"] {
        service.get(path).is_problem(404, "Not Found", "nothing is here");
    }
    let refused = [
        ("OPTIONS", "/hello", "GET, HEAD"),
        ("POST", "/sleep?ms=x", "GET, HEAD"),
        ("DELETE", "/books/1", "GET, HEAD"),
        ("GET", "/books", "POST"),
        ("PUT", "/books", "POST"),
        ("POST", "/events?interval_ms=x", "GET, HEAD"),
        ("HEAD", "/ws", "GET"),
        ("OPTIONS", "/ws", "GET"),
    ];
    for (method, path, allow) in refused {
        let answer = service.send(method, path, "", b"");
        if method == "HEAD" {
            assert_eq!((answer.status, answer.body.as_str()), (405, ""));
        } else {
            answer.is_problem(405, "Method Not Allowed", "the method is not allowed here");
        }
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
}

#[test]
fn answers_head_as_get_without_a_body() {
    let service = Service::start(&[]);
    for path in ["/hello", "/sleep?ms=1", "/sleep", "/nope", "/books/1"] {
        let (get, head) = (service.get(path), service.send("HEAD", path, "", b""));
        assert_eq!((head.status, head.body.as_str()), (get.status, ""));
        for name in ["content-type", "content-length"] {
            assert_eq!(head.header(name), get.header(name), "{name} of {path}");
        }
    }
}

#[test]
fn names_the_first_wrong_parameter() {
    let service = Service::start(&[]);
    let number = |name: &str, low, high| {
        format!("{name} must be given once, as a whole number from {low} to {high}")
    };
    let ms = number("ms", 0, 60000);
    for query in ["", "ms=", "ms=-1", "ms=01", "ms=1.0", "ms=60001", "ms=+1", "ms=1&ms=1", "MS=1"] {
        service.get(&format!("/sleep?{query}")).is_problem(400, "Bad Request", &ms);
    }
    let calls = number("calls", 1, 1000);
    service.get("/fanout?ms=x&mode=x").is_problem(400, "Bad Request", &calls);
    service.get("/fanout?calls=1&ms=x&mode=x").is_problem(400, "Bad Request", &ms);
    let mode = "mode must be given once, as concurrent or sequential";
    service.get("/fanout?calls=1&ms=1&mode=Sequential").is_problem(400, "Bad Request", mode);
    let rounds = number("rounds", 1, 10_000_000);
    service.get("/compute?rounds=0").is_problem(400, "Bad Request", &rounds);
    let block = number("ms", 0, 1000);
    service.get("/block?ms=1001&offload=x").is_problem(400, "Bad Request", &block);
    let offload = "offload must be given once, as false or true";
    service.get("/block?ms=1&offload=1").is_problem(400, "Bad Request", offload);
    let interval = number("interval_ms", 10, 60000);
    for query in ["", "interval_ms=9", "interval_ms=60001", "interval_ms=10&interval_ms=10"] {
        service.get(&format!("/events?{query}")).is_problem(400, "Bad Request", &interval);
    }
    let id = "id must be a whole number from 1 to 9007199254740991";
    for path in ["/books/0", "/books/abc", "/books/01", "/books/9007199254740992"] {
        service.get(path).is_problem(400, "Bad Request", id);
    }
}

#[test]
fn checks_bodies_in_order() {
    let service = Service::start(&[]);
    let json = "application/json";
    let large = vec![b' '; 65_537];
    let media = "the body must be application/json";
    service.post("text/json", &large).is_problem(415, "Unsupported Media Type", media);
    service.send("POST", "/books", "", b"").is_problem(415, "Unsupported Media Type", media);
    let size = "the body must not exceed 65536 bytes";
    service.post("Application/JSON; x=y", &large).is_problem(413, "Content Too Large", size);
    let headers = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let chunk = [b"10001\r\n".as_slice(), &large, b"\r\n0\r\n\r\n"].concat();
    let chunked = service.send("POST", "/books", headers, &chunk);
    chunked.is_problem(413, "Content Too Large", size);

    let malformed: [&[u8]; 5] =
        [b"", b"{", b"{\"name\":\"a\",}", b"{\"name\":NaN}", b"{\"name\":\"\xff\"}"];
    for body in malformed {
        service.post(json, body).is_problem(400, "Bad Request", "the body must be JSON in UTF-8");
    }
    let long = format!(r#"{{"name":"{}"}}"#, "é".repeat(256));
    let misfits = [
        "[]",
        "\"name\"",
        "{}",
        r#"{"Name":"a"}"#,
        r#"{"name":""}"#,
        r#"{"name":1e999}"#,
        r#"{"name":"\ud800"}"#,
        r#"{"name":"a","name":null}"#,
        &long,
    ];
    for body in misfits {
        let detail = "name must be a string of 1 to 255 characters";
        service.post(json, body.as_bytes()).is_problem(422, "Unprocessable Content", detail);
    }
    // Good ones get as far as the database.
    let good = [
        format!(r#"{{"name":"{}"}}"#, "é".repeat(255)),
        r#"{"name":1,"\ud800":"\ud800","n":1e999,"n\u0061me":"a"}"#.into(),
    ];
    for body in good {
        assert_eq!(service.post(json, body.as_bytes()).status, 503, "{body}");
    }
}

#[test]
fn says_that_the_database_is_away() {
    let service = Service::start(&[]);
    let start = Instant::now();
    for path in ["/readyz", "/sleep-query?ms=0", "/slow-query?ms=0", "/books/1"] {
        let detail = "the database did not answer";
        service.get(path).is_problem(503, "Service Unavailable", detail);
    }
    assert!(start.elapsed() < Duration::from_secs(10), "no answer waits for the acquire limit");
}

#[test]
fn gives_up_waiting_for_a_connection() {
    // A database that accepts and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("mysql://user:secret@{}/nsb", silent.local_addr().unwrap());
    let service = Service::start(&[("DATABASE_URL", &url), ("DB_ACQUIRE_TIMEOUT_MS", "100")]);
    let detail = "the database did not answer";
    service.get("/books/1").is_problem(503, "Service Unavailable", detail);
    service.get("/readyz").is_problem(503, "Service Unavailable", detail);
    until("nobody waits", || service.stat("pool_waiting") == 0.0);
}

#[test]
fn fans_out() {
    let good = upstream("200 OK");
    let service = Service::start(&[("UPSTREAM_URL", &good)]);
    for mode in ["concurrent", "sequential"] {
        let body = format!(r#"{{"calls":9,"mode":"{mode}","completed":9}}"#);
        service.get(&format!("/fanout?calls=9&ms=0&mode={mode}")).is_json(&body);
    }
}

#[test]
fn says_that_the_upstream_did_not_answer() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    let away = format!("http://127.0.0.1:{}", free_port());
    for url in [upstream("204 No Content"), upstream("503 Busy"), silent, away] {
        let settings = [("UPSTREAM_URL", url.as_str()), ("UPSTREAM_TIMEOUT_MS", "100")];
        let service = Service::start(&settings);
        for mode in ["concurrent", "sequential"] {
            let answer = service.get(&format!("/fanout?calls=2&ms=0&mode={mode}"));
            answer.is_problem(502, "Bad Gateway", "the upstream did not answer");
        }
    }
}

#[test]
fn counts_requests_and_forgets_clients_that_left() {
    let service = Service::start(&[]);
    service.get("/hello");
    service.get("/nope");
    service.get("/healthz");
    assert_eq!(service.stat("requests_total"), 2.0);
    let mut leaving = service.connect();
    leaving.write_all(b"GET /sleep?ms=60000 HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
    until("the request is in flight", || service.stat("in_flight") == 1.0);
    drop(leaving);
    until("it is not", || service.stat("in_flight") == 0.0);
    assert_eq!(service.stat("requests_total"), 3.0);
    assert!(service.stat("busy_seconds_total") > 0.0);
}

#[test]
fn sends_events_until_the_client_leaves() {
    let service = Service::start(&[]);
    let (answer, mut stream) = service.open("/events?interval_ms=10");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("content-length"), None);
    for number in 0..5 {
        // Each is flushed, so each is a chunk of its own.
        let mut chunk = [0; b"9\r\ndata: 0\n\n\r\n".len()];
        stream.read_exact(&mut chunk).unwrap();
        assert_eq!(str::from_utf8(&chunk), Ok(format!("9\r\ndata: {number}\n\n\r\n").as_str()));
    }
    assert_eq!((service.stat("in_flight"), service.stat("requests_total")), (1.0, 0.0));
    drop(stream);
    until("the stream has ended", || service.stat("in_flight") == 0.0);
    assert_eq!(service.stat("requests_total"), 1.0);

    let (_, mut waiting) = service.open("/events?interval_ms=60000");
    waiting.read_exact(&mut [0; 14]).unwrap();
    drop(waiting);
    until("a stream ends between two events", || service.stat("in_flight") == 0.0);

    let head = service.send("HEAD", "/events?interval_ms=60000", "", b"");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(head.header("content-length"), None);
    assert_eq!(service.send("HEAD", "/events", "", b"").status, 400);
    until("a HEAD does not wait", || service.stat("in_flight") == 0.0);
}

#[test]
fn echoes_messages() {
    let service = Service::start(&[]);
    let extension = "sec-websocket-extensions";
    let (mut socket, headers) =
        service.socket(&[(extension, "permessage-deflate"), ("origin", "http://elsewhere")]);
    assert!(!headers.iter().any(|name| name == extension));
    let messages = [
        Message::text("안녕"),
        Message::binary(b"\xff\0".to_vec()),
        Message::text(""),
        Message::binary(vec![7; 65_536]),
        Message::text("é".repeat(32_768)),
    ];
    for message in messages {
        socket.send(message.clone()).unwrap();
        assert_eq!(socket.read().unwrap(), message);
    }
    for (part, kind, last) in [("on", Data::Text, false), ("e", Data::Continue, true)] {
        let frame = Frame::message(part.as_bytes().to_vec(), OpCode::Data(kind), last);
        socket.send(Message::Frame(frame)).unwrap();
    }
    assert_eq!(socket.read().unwrap(), Message::text("one"));
    socket.send(Message::Ping("here".into())).unwrap();
    assert_eq!(socket.read().unwrap(), Message::Pong("here".into()));

    assert_eq!((service.stat("in_flight"), service.stat("requests_total")), (1.0, 0.0));
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
    until("the socket has ended", || service.stat("in_flight") == 0.0);
    assert_eq!(service.stat("requests_total"), 1.0);
    let (socket, _) = service.socket(&[]);
    until("a socket is open", || service.stat("in_flight") == 1.0);
    drop(socket);
    until("one that only left has ended", || service.stat("in_flight") == 0.0);
}

#[test]
fn refuses_what_it_does_not_echo() {
    let service = Service::start(&[]);
    let answer = service.get("/ws");
    answer.is_problem(426, "Upgrade Required", "upgrade to a WebSocket");
    assert_eq!(answer.header("upgrade"), Some("websocket"));

    let long = vec![b'a'; 65_537];
    let refused = [
        (1009, vec![(long.clone(), Data::Text, true)]),
        (1009, vec![(long.clone(), Data::Binary, true)]),
        (1009, vec![("é".repeat(32_769).into_bytes(), Data::Text, true)]),
        (1009, vec![(long.clone(), Data::Binary, false), (long, Data::Continue, true)]),
        (1009, vec![(vec![0; 2 << 20], Data::Binary, true)]),
        (1007, vec![(b"a\xff".to_vec(), Data::Text, true)]),
        (1007, vec![(b"\xea".to_vec(), Data::Text, false), (b"a".to_vec(), Data::Continue, true)]),
    ];
    for (code, frames) in refused {
        let (mut socket, _) = service.socket(&[]);
        for (bytes, kind, last) in frames {
            let frame = Frame::message(bytes, OpCode::Data(kind), last);
            let _ = socket.send(Message::Frame(frame)); // it may be closed meanwhile
        }
        closes_with(&mut socket, code);
    }
    until("all have ended", || service.stat("in_flight") == 0.0);
}

#[track_caller]
fn closes_with(socket: &mut WebSocket<TcpStream>, code: u16) {
    match socket.read() {
        Ok(Message::Close(Some(frame))) => assert_eq!(u16::from(frame.code), code),
        other => panic!("{other:?} instead of a close with {code}"),
    }
}

/// The container's health check (C2), against a service that is ready, one that is not, and none.
#[test]
fn only_a_ready_service_is_healthy() {
    let health = Path::new(env!("CARGO_BIN_EXE_nsb-rust")).with_file_name("examples/health");
    let healthy = |url: &str| {
        let port = url.rsplit(':').next().unwrap();
        Command::new(&health).env("PORT", port).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(healthy(&upstream("200 OK")));
    assert!(!healthy(&upstream("503 Service Unavailable")));
    assert!(!healthy("http://127.0.0.1:1"), "nobody listens on 1");
}

#[test]
fn finishes_what_is_in_flight_before_it_ends() {
    for name in ["TERM", "INT"] {
        let mut service = Service::start(&[]);
        let (_, mut stream) = service.open("/events?interval_ms=60000");
        let (mut socket, _) = service.socket(&[]);
        let mut waiting = service.connect();
        waiting.write_all(b"GET /sleep?ms=1000 HTTP/1.1\r\nHost: test\r\n\r\n").unwrap();
        until("all are in flight", || service.stat("in_flight") == 3.0);
        service.signal(name);
        until("it accepts nobody", || TcpStream::connect(service.address).is_err());
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "9\r\ndata: 0\n\n\r\n0\r\n\r\n", "a body that ends regularly");
        closes_with(&mut socket, 1001);
        text.clear();
        waiting.read_to_string(&mut text).unwrap();
        Answer::parse(&text).is_json(r#"{"slept_ms":1000}"#);
        assert_eq!(service.end().code(), Some(0));
    }
}

#[test]
fn wrong_settings_end_the_start() {
    let database = "is not mysql://user:password@host:port/database";
    let wrong = [
        ("PORT", "abc", "PORT=\"abc\" is not a whole number from 1 to 65535".into()),
        ("PORT", "0", "PORT=\"0\" is not a whole number from 1 to 65535".into()),
        ("WORKERS", "01", "WORKERS=\"01\" is not a whole number from 1 to 1024".into()),
        ("DB_POOL_SIZE", "1", "DB_POOL_SIZE=\"1\" is not a whole number from 2 to 10000".into()),
        (
            "SERVER_THREADS",
            "x",
            "SERVER_THREADS=\"x\" is not a whole number from 1 to 100000".into(),
        ),
        ("HOST", "1.2.3.4.5", "HOST=\"1.2.3.4.5\" is not an address to bind".into()),
        (
            "UPSTREAM_URL",
            "http://a:1/path",
            "UPSTREAM_URL=\"http://a:1/path\" is not http://host:port".into(),
        ),
        (
            "UPSTREAM_URL",
            "http://user:secret@a:1",
            "UPSTREAM_URL=\"http://***@a:1\" is not http://host:port".into(),
        ),
        ("DATABASE_URL", "", "DATABASE_URL=\"\" is not set".into()),
        (
            "DATABASE_URL",
            "postgres://user:secret@host/nsb",
            format!("DATABASE_URL=\"postgres://***@host/nsb\" {database}"),
        ),
        (
            "DATABASE_URL",
            "mysql://user:secret@host",
            format!("DATABASE_URL=\"mysql://***@host\" {database}"),
        ),
        (
            "DATABASE_URL",
            "mysql://user:secret",
            format!("DATABASE_URL=\"mysql://user:***\" {database}"),
        ),
    ];
    for (name, value, sentence) in wrong {
        let mut command = program();
        command.env("WORKERS", "2").env(name, value);
        let Output { status, stderr, .. } = command.output().unwrap();
        assert_eq!(String::from_utf8(stderr).unwrap(), format!("{sentence}\n"));
        assert_eq!(status.code(), Some(2), "{name}={value}");
    }
}
