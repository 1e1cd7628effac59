//! Just enough HTTP/1.1 for one page: every request is bounded in size and time, every connection carries one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Most bytes of a request's head.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Most bytes of a request's body.
pub const MAX_BODY_BYTES: usize = 1 << 20;

/// A request must have arrived within this, and its answer have left within as much again.
const DEADLINE: Duration = Duration::from_secs(10);

/// Where a request comes from and its answer goes to: a socket, or memory.
pub trait Connection: Read + Write {
    /// Reads wait at most this long.
    ///
    /// # Errors
    /// If the peer is gone.
    fn limit_reads(&mut self, wait: Duration) -> io::Result<()>;

    /// Writes wait at most this long.
    ///
    /// # Errors
    /// If the peer is gone.
    fn limit_writes(&mut self, wait: Duration) -> io::Result<()>;

    /// Says that the answer is complete.
    ///
    /// # Errors
    /// If the peer is gone.
    fn end_writes(&mut self) -> io::Result<()>;
}

impl Connection for TcpStream {
    fn limit_reads(&mut self, wait: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(wait))
    }

    fn limit_writes(&mut self, wait: Duration) -> io::Result<()> {
        self.set_write_timeout(Some(wait))
    }

    fn end_writes(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

/// A request, as far as we care.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// `GET`, `POST`, ...
    pub method: String,
    /// The target, for example `/api/link`.
    pub path: String,
    /// Headers in the order they came: the name in lower case, the value.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The values of a header, its name in lower case, in the order they came.
    pub fn values<'a>(&'a self, name: &str) -> impl DoubleEndedIterator<Item = &'a str> {
        self.headers.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A refusal with a reason as JSON, which the page shows.
    #[must_use]
    pub fn error(status: u16, reason: &str) -> Self {
        let body = serde_json::json!({ "error": reason }).to_string().into_bytes();
        Self { status, content_type: "application/json", body }
    }
}

/// Why a request could not be read.
#[derive(Debug)]
pub enum RequestError {
    /// Nobody is there to answer.
    Gone,
    /// It is answered with this.
    Refused(Response),
}

fn refused(status: u16, reason: &str) -> RequestError {
    RequestError::Refused(Response::error(status, reason))
}

/// Reads one request.
///
/// # Errors
/// If the peer is gone or too slow, or the request is malformed or too large.
pub fn read_request(stream: &mut impl Connection) -> Result<Request, RequestError> {
    let end = Instant::now() + DEADLINE;
    let mut buffer = Vec::with_capacity(2048);
    let head_len = loop {
        if let Some(at) = buffer.windows(4).position(|w| w == b"\r\n\r\n") {
            break at;
        }
        if buffer.len() > MAX_HEAD_BYTES {
            return Err(refused(431, "the request's head is too large"));
        }
        read_some(stream, &mut buffer, end)?;
    };
    if head_len > MAX_HEAD_BYTES {
        return Err(refused(431, "the request's head is too large"));
    }
    let mut request = parse_head(&buffer[..head_len])?;
    let length = content_length(&request)?;
    let needed = head_len + 4 + length;
    while buffer.len() < needed {
        read_some(stream, &mut buffer, end)?;
    }
    request.body = buffer[head_len + 4..needed].to_vec();
    Ok(request)
}

fn read_some(stream: &mut impl Connection, buffer: &mut Vec<u8>, end: Instant) -> Result<(), RequestError> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(refused(408, "the request took too long"));
    }
    stream.limit_reads(left).map_err(|_| RequestError::Gone)?;
    let mut chunk = [0; 8192];
    match stream.read(&mut chunk) {
        Ok(0) => Err(RequestError::Gone),
        Ok(n) => {
            buffer.extend_from_slice(&chunk[..n]);
            Ok(())
        }
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Err(refused(408, "the request took too long"))
        }
        Err(_) => Err(RequestError::Gone),
    }
}

/// The request line and the headers.
fn parse_head(head: &[u8]) -> Result<Request, RequestError> {
    let malformed = || refused(400, "malformed request");
    if head.iter().any(|b| *b == 0 || *b >= 0x7f) {
        return Err(malformed());
    }
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let parts: Vec<&str> = line.split(' ').collect();
    let [method, path, version] = parts[..] else { return Err(malformed()) };
    if !method.bytes().all(|b| b.is_ascii_uppercase()) || !path.starts_with('/') || !version.starts_with("HTTP/1.") {
        return Err(malformed());
    }
    let mut request = Request { method: method.to_owned(), path: path.to_owned(), ..Request::default() };
    for line in lines {
        let (name, value) = line.split_once(':').filter(|(name, _)| !name.is_empty()).ok_or_else(malformed)?;
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.values("transfer-encoding").next().is_some() {
        return Err(refused(411, "send a Content-Length instead of a Transfer-Encoding"));
    }
    Ok(request)
}

fn content_length(request: &Request) -> Result<usize, RequestError> {
    match request.values("content-length").collect::<Vec<_>>().as_slice() {
        [] => Ok(0),
        [one] if !one.is_empty() && one.bytes().all(|b| b.is_ascii_digit()) => match one.parse() {
            Ok(length) if length <= MAX_BODY_BYTES => Ok(length),
            _ => Err(refused(413, "the request's body is too large")),
        },
        _ => Err(refused(400, "malformed Content-Length")),
    }
}

/// Writes an answer; the peer may be gone, which is no error of ours.
pub fn write_response(stream: &mut impl Connection, response: &Response, policy: &str) {
    let reason = match response.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        422 => "Unprocessable Content",
        503 => "Service Unavailable",
        _ => "Refused",
    };
    let head = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {policy}\r\n\r\n",
        response.status,
        response.content_type,
        response.body.len(),
    );
    let end = Instant::now() + DEADLINE;
    let _ = write_until(stream, head.as_bytes(), end).and_then(|()| write_until(stream, &response.body, end));
}

/// Writes all of it unless the time is over: a peer may take a few bytes now and then, and each write alone be in time.
fn write_until(stream: &mut impl Connection, mut bytes: &[u8], end: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.limit_writes(left)?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    stream.flush()
}

/// Reads on for a moment what a refused peer still sends: closing at once could take the answer away from it.
pub fn drain(stream: &mut impl Connection) {
    let _ = stream.end_writes();
    let _ = stream.limit_reads(Duration::from_millis(200));
    let mut chunk = [0; 8192];
    for _ in 0..2 * MAX_BODY_BYTES / chunk.len() {
        if !matches!(stream.read(&mut chunk), Ok(n) if n > 0) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> u16 {
        match parse_head(head.as_bytes()).and_then(|request| content_length(&request)) {
            Ok(_) => 200,
            Err(RequestError::Refused(response)) => response.status,
            Err(RequestError::Gone) => 0,
        }
    }

    #[test]
    fn malformed_heads_get_a_4xx() {
        assert_eq!(status("GET / HTTP/1.1\r\nHost: a"), 200);
        let malformed = ["GET /  HTTP/1.1\r\nHost: a", "get / HTTP/1.1", "GET http://x/ HTTP/1.1", "GET / SPDY/3"];
        let headers = ["no colon", "Host: \u{0}", "Content-Length: 1\r\nContent-Length: 2", "Content-Length: +1"];
        let headers = headers.map(|header| format!("POST / HTTP/1.1\r\n{header}"));
        for head in malformed.into_iter().chain(headers.iter().map(String::as_str)) {
            assert_eq!(status(head), 400, "{head}");
        }
        assert_eq!(status("POST / HTTP/1.1\r\nTransfer-Encoding: chunked"), 411);
        for length in ["99999999999999999999", "1048577"] {
            assert_eq!(status(&format!("POST / HTTP/1.1\r\nContent-Length: {length}")), 413);
        }
    }
}
