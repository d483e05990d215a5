//! The program itself, over HTTP, with its database and its upstream away (C43): the exchanges and settings of contract/,
//! and what those cannot say. Times are bounds that a busy machine cannot break, never an expectation of speed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::Value;
use tungstenite::{Message, WebSocket, client::client};

const PATIENCE: Duration = Duration::from_secs(20);
const DATABASE_URL: &str = "mysql://user:secret@127.0.0.1:1/nsb"; // nobody listens on 1
static STARTING: Mutex<()> = Mutex::new(()); // a free port is only free until somebody takes it: one start at a time

fn contract(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contract").join(file);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nsb-rust"));
    command.env_clear().env("DATABASE_URL", DATABASE_URL).env("UPSTREAM_URL", "http://127.0.0.1:1").env("WORKERS", "2");
    command
}

struct Service {
    process: Child,
    address: SocketAddr,
}

impl Service {
    fn start(settings: &[(&str, &str)]) -> Self {
        let _one_at_a_time = STARTING.lock();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = program();
        command.env("PORT", address.port().to_string()).envs(settings.iter().copied()).stderr(Stdio::null());
        let service = Self { process: command.spawn().unwrap(), address };
        until("the service listens", || TcpStream::connect(address).is_ok());
        service
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// What comes until the service closes the connection.
    fn send(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let head = format!("{head}Host: test\r\nConnection: close\r\n\r\n");
        let _ = stream.write_all(&[head.as_bytes(), body].concat()); // it may be refused before it is all written
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text); // a reset after the answer
        Answer::parse(&String::from_utf8(text).unwrap())
    }

    fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\n"), b"")
    }

    /// A request that goes on, behind the head of its answer where there is one already.
    fn open(&self, path: &str, answered: bool) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n").as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while answered && line != "\r\n" {
            line.clear();
            assert_ne!(stream.read_line(&mut line).unwrap(), 0, "the head ends");
        }
        stream
    }

    fn socket(&self) -> WebSocket<TcpStream> {
        client(format!("ws://{}/ws", self.address), self.connect()).unwrap().0
    }

    fn stat(&self, name: &str) -> f64 {
        let stats: Value = serde_json::from_str(&self.get("/stats").body).unwrap();
        stats[name].as_f64().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Answer {
    status: u64,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole answer");
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let split = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Self { status, headers: lines.filter_map(split).collect(), body: body.into() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
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

/// A body as contract/README.md says, of strings and repeated strings; none where it is bytes that are no text.
fn text(body: &Value) -> Option<String> {
    let part = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        part => Some(part["repeat"].as_str()?.repeat(part["times"].as_u64()? as usize)),
    };
    body.as_array().map_or_else(|| part(body), |parts| parts.iter().map(part).collect())
}

/// Whether the answer to a request of exchanges.json is the right one.
fn play(service: &Service, request: &Value, wanted: &Value) -> Option<bool> {
    let method = request["method"].as_str()?;
    let mut head = format!("{method} {} HTTP/1.1\r\n", request["target"].as_str()?);
    for (name, value) in request["headers"].as_object().into_iter().flatten() {
        head += &format!("{name}: {}\r\n", value.as_str()?);
    }
    if let Some(media_type) = request["content_type"].as_str() {
        head += &format!("Content-Type: {media_type}\r\n");
    }
    let mut body = if request["body"].is_null() { String::new() } else { text(&request["body"])? };
    if request["chunked"] == true {
        head += "Transfer-Encoding: chunked\r\n";
        let chunk = if body.is_empty() { String::new() } else { format!("{:x}\r\n{body}\r\n", body.len()) };
        body = chunk + "0\r\n\r\n";
    } else if !request["body"].is_null() {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    let answer = service.send(&head, body.as_bytes());
    let whole = text(&wanted["body"]);
    let length = whole.as_ref().map(|body| body.len().to_string());
    let media_type = answer.header("content-type")?.split(';').next()?.trim().to_lowercase();
    let same = |name: &str| answer.header(name) == wanted[name].as_str();
    Some(
        wanted["status"] == answer.status
            && wanted["content_type"] == media_type
            && answer.header("content-length") == length.as_deref()
            && answer.body == if method == "HEAD" { String::new() } else { whole? }
            && ["location", "allow", "upgrade"].into_iter().all(same),
    )
}

#[test]
fn answers_as_the_exchanges_say() {
    let (service, exchanges) = (Service::start(&[]), contract("exchanges.json"));
    let (mut played, mut wrong) = (0, vec![]);
    for group in exchanges["groups"].as_array().unwrap() {
        let wanted = match group["needs"][0].as_str() {
            None => &group["answer"],
            Some(neighbour @ ("database" | "upstream")) => &exchanges["away"][neighbour],
            Some(_) => continue, // an endpoint that this service does not have
        };
        for request in group["requests"].as_array().unwrap() {
            let no_text = !request["body"].is_null() && text(&request["body"]).is_none();
            if no_text {
                continue; // bytes in base64: `just conform` plays them
            }
            played += 1;
            if play(&service, request, wanted) != Some(true) {
                wrong.push(request.to_string());
            }
        }
    }
    assert!(wrong.is_empty() && played > 500, "{} of {played} answered wrongly: {wrong:#?}", wrong.len());
}

#[test]
fn starts_with_good_settings_and_refuses_wrong_ones() {
    let settings = contract("settings.json");
    for variable in settings["variables"].as_array().unwrap() {
        let name = variable["variable"].as_str().unwrap();
        let values =
            |key: &str| variable[key].as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned());
        let others = variable["with"].as_object().into_iter().flatten();
        let others: Vec<_> = others.map(|(name, value)| (name, value.as_str().unwrap())).collect();
        let start = |value: &str| {
            let mut command = program();
            // No machine has this address (RFC 5737).
            command.env("HOST", "192.0.2.1").envs(others.iter().copied()).env(name, value);
            let output = command.output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        for value in values("bad") {
            let (code, said) = start(&value);
            assert_eq!(code, Some(2), "{name}={value}");
            let good = match variable["sentence"].as_str() {
                Some(sentence) => said == format!("{}\n", sentence.replace("{value}", &value)),
                None => said.starts_with(&variable["begins"].as_str().unwrap().replace("{value}", &value)),
            };
            assert!(good && !said.contains("secret"), "{name}={value}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        for value in values("good").filter(|_| name != "HOST") {
            let (_, said) = start(&value);
            assert!(said.starts_with("HOST=\"192.0.2.1\" cannot be bound: "), "{name}={value} is refused: {said}");
        }
    }
    for host in ["0.0.0.0", "localhost"] {
        assert_eq!(Service::start(&[("HOST", host)]).get("/hello").body, "hello");
    }
}

#[test]
fn a_client_that_leaves_ends_its_request() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap(); // a database that accepts and says nothing
    let url = format!("mysql://user:secret@{}/nsb", silent.local_addr().unwrap());
    let service = Service::start(&[("DATABASE_URL", &url)]);
    for path in ["/sleep?ms=60000", "/events?interval_ms=60000", "/books/1"] {
        let (before, stream) = (service.stat("requests_total"), service.open(path, false));
        until("it is in flight", || service.stat("in_flight") == 1.0);
        assert_eq!(service.stat("pool_waiting"), if path == "/books/1" { 1.0 } else { 0.0 });
        drop(stream);
        until("it is not", || service.stat("in_flight") == 0.0);
        assert_eq!((service.stat("pool_waiting"), service.stat("requests_total")), (0.0, before + 1.0));
    }
}

#[test]
fn streams_end_at_once_and_requests_when_they_are_done() {
    for signal in ["TERM", "INT"] {
        let mut service = Service::start(&[]);
        let mut events = service.open("/events?interval_ms=60000", true);
        let mut text = String::new();
        for _ in ["length", "data", "empty", "end"] {
            events.read_line(&mut text).unwrap();
        }
        assert_eq!(text, "9\r\ndata: 0\n\n\r\n", "the first event comes at once");
        let mut socket = service.socket();
        let mut waiting = service.open("/sleep?ms=1000", false);
        until("all are in flight", || service.stat("in_flight") == 3.0);
        let id = service.process.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        text.clear();
        events.read_to_string(&mut text).unwrap();
        assert_eq!(text, "0\r\n\r\n", "a body that ends regularly");
        assert!(matches!(socket.read(), Ok(Message::Close(Some(frame))) if u16::from(frame.code) == 1001));
        drop(socket);
        text.clear();
        waiting.read_to_string(&mut text).unwrap();
        assert_eq!(Answer::parse(&text).body, r#"{"slept_ms":1000}"#);
        until("the service ends", || service.process.try_wait().unwrap().is_some());
        assert_eq!(service.process.wait().unwrap().code(), Some(0));
    }
}

/// The container's health check (C2), against a service that is not ready, and none.
#[test]
fn only_a_ready_service_is_healthy() {
    let health = Path::new(env!("CARGO_BIN_EXE_nsb-rust")).with_file_name("examples/health");
    let check = |port: u16| Command::new(&health).env("PORT", port.to_string()).output().unwrap();
    let output = check(Service::start(&[]).address.port());
    assert_eq!((output.status.code(), output.stderr.starts_with(b"HTTP/1.1 503 ")), (Some(1), true));
    let ready = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = ready.local_addr().unwrap().port();
    thread::spawn(move || ready.accept().unwrap().0.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
    assert!(check(port).status.success());
    assert!(!check(1).status.success(), "nobody listens on 1");
}
