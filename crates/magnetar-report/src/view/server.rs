//! The server behind the page: on 127.0.0.1 only, for its own page only.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::app::App;
use super::http::{Request, RequestError, Response, drain, read_request, write_response};
use crate::error::ReportError;

/// Most connections served at a time; more are turned away.
const MAX_CONNECTIONS: usize = 16;

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
        let busy = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let place = Place::take(&busy);
            if place.number > MAX_CONNECTIONS {
                write_response(&mut stream, &Response::error(503, "too many requests at once"), "default-src 'none'");
                continue;
            }
            let (app, port) = (Arc::clone(&self.app), self.port);
            // A thread that cannot be started drops the connection, and the page asks again.
            let _ = std::thread::Builder::new().name("view".into()).spawn(move || {
                let _place = place;
                serve(&mut stream, &app, port);
            });
        }
    }
}

/// One of the connections being served; leaving it frees the place, also after a panic.
struct Place {
    busy: Arc<AtomicUsize>,
    number: usize,
}

impl Place {
    fn take(busy: &Arc<AtomicUsize>) -> Self {
        Self { number: busy.fetch_add(1, Ordering::SeqCst) + 1, busy: Arc::clone(busy) }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

fn serve(stream: &mut TcpStream, app: &App, port: u16) {
    match read_request(stream) {
        Ok(request) => {
            let response = check(&request, port).unwrap_or_else(|| app.answer(&request));
            write_response(stream, &response, &app.policy());
        }
        Err(RequestError::Refused(response)) => {
            write_response(stream, &response, &app.policy());
            drain(stream);
        }
        Err(RequestError::Gone) => {}
    }
}

/// Refuses what does not come from our own page: a foreign Host (DNS rebinding) or Origin (another site's script).
fn check(request: &Request, port: u16) -> Option<Response> {
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !matches!(request.host.as_slice(), [host] if hosts.contains(host)) {
        return Some(Response::error(403, "this server answers only its own page (Host)"));
    }
    let own = |origin: &String| origin.strip_prefix("http://").is_some_and(|host| hosts.iter().any(|h| h == host));
    let foreign_site = request.fetch_site.as_deref().is_some_and(|site| !matches!(site, "same-origin" | "none"));
    if foreign_site || request.origin.len() > 1 || !request.origin.iter().all(own) {
        return Some(Response::error(403, "this server answers only its own page (Origin)"));
    }
    // A browser always sends an Origin with a POST; without one it is not our page.
    if request.method == "POST" && request.origin.is_empty() {
        return Some(Response::error(403, "this server answers only its own page (no Origin)"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, host: &[&str], origin: &[&str]) -> Request {
        let owned = |values: &[&str]| values.iter().map(|v| (*v).to_owned()).collect();
        Request { method: method.into(), host: owned(host), origin: owned(origin), ..Request::default() }
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
        other.fetch_site = Some("cross-site".into());
        assert_eq!(check(&other, 8080).unwrap().status, 403);
    }
}
