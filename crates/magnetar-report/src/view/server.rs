//! The server behind the page: on 127.0.0.1 only, for its own page only.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use super::app::App;
use super::connections::{Connections, Entered};
use super::http::{Connection, Request, RequestError, Response, drain, read_request, write_response};
use crate::error::ReportError;

/// A server that listens but does not answer yet.
pub struct Server {
    listener: TcpListener,
    port: u16,
    app: Arc<App>,
}

impl Server {
    /// Listens on 127.0.0.1; port 0 lets the system choose one.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn bind(port: u16, app: App) -> Result<Self, ReportError> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|source| ReportError::Listen { port, source })?;
        let port = listener.local_addr().map_err(|source| ReportError::Listen { port, source })?.port();
        Ok(Self { listener, port, app: Arc::new(app) })
    }

    /// The page's address.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Answers until the process ends.
    pub fn run(self) {
        let connections = Connections::default();
        for stream in self.listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let Ok(mut entered) = connections.enter(&stream) else { continue };
            let (app, port) = (Arc::clone(&self.app), self.port);
            // A thread that cannot be started drops the connection, and the page asks again.
            let _ = std::thread::Builder::new().name("view".into()).spawn(move || {
                serve(&mut stream, &app, port, Some(&mut entered));
            });
        }
    }
}

/// Reads a request and answers it; `entered` is `None` where nobody else can be kept waiting.
fn serve(stream: &mut impl Connection, app: &App, port: u16, entered: Option<&mut Entered>) {
    match read_request(stream) {
        Ok(request) => {
            let make = || check(&request, port).unwrap_or_else(|| app.answer(&request));
            let response = match entered {
                Some(entered) => entered.answer(make),
                None => Some(make()),
            };
            let response = response.unwrap_or_else(|| Response::error(503, "too many requests at once"));
            write_response(stream, &response, &app.policy());
        }
        Err(RequestError::Refused(response)) => {
            write_response(stream, &response, &app.policy());
            drain(stream);
        }
        Err(RequestError::Gone) => {}
    }
}

/// What a server on this port sends for these bytes, without a socket; nothing if they are no whole request.
#[must_use]
pub fn respond(app: &App, port: u16, request: &[u8]) -> Vec<u8> {
    let mut memory = Memory { request, response: Vec::new() };
    serve(&mut memory, app, port, None);
    memory.response
}

/// A connection in memory, whose peer has sent all it will.
struct Memory<'a> {
    request: &'a [u8],
    response: Vec<u8>,
}

impl Read for Memory<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.request.read(buffer)
    }
}

impl Write for Memory<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.response.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Connection for Memory<'_> {
    fn limit_reads(&mut self, _wait: Duration) -> io::Result<()> {
        Ok(())
    }

    fn limit_writes(&mut self, _wait: Duration) -> io::Result<()> {
        Ok(())
    }

    fn end_writes(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses what does not come from our own page: a foreign Host (DNS rebinding) or Origin (another site's script).
fn check(request: &Request, port: u16) -> Option<Response> {
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    let mut given = request.values("host");
    if !given.next().is_some_and(|host| hosts.iter().any(|own| own == host)) || given.next().is_some() {
        return Some(Response::error(403, "this server answers only its own page (Host)"));
    }
    let own = |origin: &&str| origin.strip_prefix("http://").is_some_and(|host| hosts.iter().any(|h| h == host));
    let foreign_site = request.values("sec-fetch-site").any(|site| !matches!(site, "same-origin" | "none"));
    let origins: Vec<&str> = request.values("origin").collect();
    if foreign_site || origins.len() > 1 || !origins.iter().all(own) {
        return Some(Response::error(403, "this server answers only its own page (Origin)"));
    }
    // A browser always sends an Origin with a POST; without one it is not our page.
    if request.method == "POST" && origins.is_empty() {
        return Some(Response::error(403, "this server answers only its own page (no Origin)"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, host: &[&str], origin: &[&str]) -> Request {
        let hosts = host.iter().map(|value| ("host", value));
        let all = hosts.chain(origin.iter().map(|value| ("origin", value)));
        let headers = all.map(|(name, value)| (name.to_owned(), (*value).to_owned())).collect();
        Request { method: method.into(), headers, ..Request::default() }
    }

    #[test]
    fn bytes_in_memory_are_answered_as_on_a_socket() {
        let scene = magnetar_scene::Scene::load("lab_middle").unwrap();
        let (tx, rx) = (magnetar_scene::Pose::new(1.0, 2.0, 1.0, -1.5), magnetar_scene::Pose::new(1.0, -1.0, 1.0, 1.5));
        let simulator = crate::Simulator::new(crate::LinkSettings::shipped().unwrap()).unwrap();
        let scorer = crate::LinkScorer::scene_twin(magnetar_study::ScorerSettings::shipped().unwrap());
        let app = App::scene(scene, &tx, &rx, simulator, scorer).unwrap();
        let status = |request: &str| String::from_utf8(respond(&app, 8080, request.as_bytes())).unwrap();
        let own = "Host: localhost:8080\r\n";
        assert!(status(&format!("GET /no HTTP/1.1\r\n{own}\r\n")).starts_with("HTTP/1.1 404"));
        assert!(status("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 403"));
        assert!(status("GET / SPDY/3\r\n\r\n").starts_with("HTTP/1.1 400"));
        assert!(status("GET / HTTP/1.1\r\n").is_empty(), "no whole request");
    }

    #[test]
    fn only_the_own_page_is_answered() {
        let own = "127.0.0.1:8080";
        assert!(check(&request("GET", &[own], &[]), 8080).is_none());
        assert!(check(&request("GET", &["localhost:8080"], &[]), 8080).is_none());
        assert!(check(&request("POST", &[own], &["http://127.0.0.1:8080"]), 8080).is_none());
        for (host, origin) in [
            (vec!["evil.example:8080"], vec![]),
            (vec!["127.0.0.1:81"], vec![]),
            (vec![], vec![]),
            (vec![own, own], vec![]),
            (vec![own], vec!["http://evil.example"]),
            (vec![own], vec!["null"]),
            (vec![own], vec!["https://127.0.0.1:8080"]),
            (vec![own], vec!["http://127.0.0.1:80801"]),
        ] {
            assert_eq!(check(&request("GET", &host, &origin), 8080).unwrap().status, 403, "{host:?} {origin:?}");
        }
        assert_eq!(check(&request("POST", &[own], &[]), 8080).unwrap().status, 403);
        let mut other = request("GET", &[own], &[]);
        other.headers.push(("sec-fetch-site".into(), "cross-site".into()));
        assert_eq!(check(&other, 8080).unwrap().status, 403);
    }
}
