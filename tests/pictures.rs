//! `magnetar plot`, `report` and `view`: files that open, errors that say what to do, a server that answers only its
//! own page.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::cli::{self, text};

/// A dataset of a few rows.
fn dataset(folder: &Path, extra: &[&str]) {
    let mut args = vec!["generate", "--out", text(folder), "--limit", "2"];
    args.extend(extra);
    cli::succeed(&args);
}

#[test]
fn figures_are_written_in_both_formats_and_themes() {
    let folder = tempfile::tempdir().unwrap();
    let (svg, png) = (folder.path().join("room.svg"), folder.path().join("room.png"));
    let ends = ["--tx", "0.98,2.28,1.08,-90", "--rx", "1,-1,1.08,90"];
    for extra in [["--theme", "light"], ["--theme", "dark"], ["--colour", "power"]] {
        let mut args = vec!["plot", "room", "lab_left", "-o", text(&svg), "-o", text(&png)];
        args.extend(ends);
        args.extend(extra);
        cli::succeed(&args);
        let drawn = fs::read_to_string(&svg).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.contains("x / m") && drawn.contains("Simulated"));
        assert!(!drawn.contains("NaN") && !drawn.contains("var(--"));
        assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    }
    let pattern = folder.path().join("pattern.svg");
    cli::succeed(&["plot", "pattern", "synthetic_vivaldi", "-o", text(&pattern)]);
    assert!(fs::read_to_string(&pattern).unwrap().contains("synthetic"));
    assert!(cli::fail(&["plot", "pattern", "synthetic_vivaldi", "-o", "pattern.pdf"]).contains(".svg or .png"));
    let nowhere = folder.path().join("nowhere/pattern.svg");
    assert!(cli::fail(&["plot", "pattern", "isotropic", "-o", text(&nowhere)]).contains("cannot be written"));
    let inside = ["plot", "room", "lab_left", "--tx", "99,0,1", "--rx", "1,-1,1.08", "-o", text(&svg)];
    assert!(cli::fail(&inside).contains("not inside the room"));
}

#[test]
fn posterior_figures_come_from_rows_and_sets() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("sim");
    dataset(&data, &["--csi", "none"]);
    for (figure, extra) in [
        ("marginal", ["--row", "1"]),
        ("slices", ["--row", "0"]),
        ("volume", ["--row", "1"]),
        ("cone", ["--rows", "2"]),
        ("fusion", ["--set", "1"]),
    ] {
        let out = folder.path().join(format!("{figure}.svg"));
        let mut args = vec!["plot", figure, text(&data), "-o", text(&out)];
        args.extend(extra);
        cli::succeed(&args);
        let drawn = fs::read_to_string(&out).unwrap();
        assert!(drawn.contains("Simulated") && !drawn.contains("NaN"), "{figure}");
    }
    // All of them at once, with two scorers.
    let all = folder.path().join("figures");
    let two = ["--scorer", "twin", "--scorer", "uniform", "--limit", "2"];
    cli::succeed(&[&["plot", "paper", text(&data), "-o", text(&all)][..], &two].concat());
    for name in ["volumes", "cone", "marginal-twin", "slices-uniform", "fusion-twin"] {
        let drawn = fs::read_to_string(all.join(format!("{name}.svg"))).unwrap();
        assert!(drawn.contains("Simulated") && !drawn.contains("NaN"), "{name}");
        assert_eq!(name == "volumes", drawn.contains("P joint"), "badges");
    }
    let out = folder.path().join("x.svg");
    assert!(cli::fail(&["plot", "marginal", text(&data), "--row", "77", "-o", text(&out)]).contains("no row 77"));
    assert!(cli::fail(&["plot", "cone", text(&data), "--split", "nope", "-o", text(&out)]).contains("nope"));
    assert!(cli::fail(&["plot", "fusion", text(&data), "--set", "99", "-o", text(&out)]).contains("no row"));
}

#[test]
fn reports_of_odd_datasets_say_what_is_odd() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("sim"), folder.path().join("report.html"));
    dataset(&data, &["--split", "test"]);
    let report = ["report", text(&data), "-o", text(&out), "--examples", "1"];
    cli::succeed(&report);
    let page = fs::read_to_string(&out).unwrap();
    assert!(page.contains("Row 0 of test") && page.contains("Delay profile") && page.contains("simulated"));
    for broken_or_loaded in ["NaN", "src=\"", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(broken_or_loaded), "{broken_or_loaded}");
    }
    // Damage: the shard is cut short.
    let shard = data.join("test/part-00000.parquet");
    let whole = fs::read(&shard).unwrap();
    fs::write(&shard, &whole[..whole.len() / 2]).unwrap();
    assert!(cli::fail(&report).contains("part-00000.parquet"));
    assert!(cli::fail(&["view", text(&data), "--export", text(&out)]).contains("part-00000.parquet"));
    fs::remove_file(&shard).unwrap();
    assert!(cli::fail(&report).contains("part-00000.parquet"));
    // No rows at all: the page says so; there is no row to view.
    let manifest = data.join("manifest.json");
    let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&manifest).unwrap()).unwrap();
    value["splits"]["test"]["shards"] = serde_json::json!([]);
    fs::write(&manifest, value.to_string()).unwrap();
    cli::succeed(&report);
    assert!(fs::read_to_string(&out).unwrap().contains("no rows yet"));
    assert!(cli::fail(&["view", text(&data), "--export", text(&out)]).contains("no rows"));
    fs::write(&manifest, "{").unwrap();
    assert!(cli::fail(&report).contains("manifest.json"));
    assert!(cli::fail(&["report", text(folder.path())]).contains("manifest.json"));
}

/// A running `magnetar view`, ended when dropped.
struct Viewer {
    child: Child,
    host: String,
}

impl Viewer {
    fn start(args: &[&str]) -> Self {
        let mut command = cli::magnetar(&["view"]);
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(host.starts_with("127.0.0.1:"), "{line}");
        Self { child, host }
    }

    /// Sends bytes and returns the answer's status and text.
    fn send(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    fn get(&self, path: &str, host: &str, extra: &str) -> u16 {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n")).0
    }

    fn post(&self, path: &str, origin: &str, body: &str) -> (u16, String) {
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        ))
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_server_answers_its_own_page_only() {
    let viewer = Viewer::start(&["lab_middle"]);
    let (host, own) = (viewer.host.clone(), format!("http://{}", viewer.host));
    let (status, page) = viewer.send(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(status, 200);
    assert!(page.contains("Content-Security-Policy: default-src 'none'"));
    let start = page.split("id=\"start\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let start: serde_json::Value = serde_json::from_str(start).unwrap();
    let mut state = start["state"].clone();
    state["posterior"] = false.into();
    let good = state.to_string();
    let (status, answer) = viewer.post("/api/link", &own, &good);
    assert_eq!(status, 200);
    assert!(answer.contains("plan_svg"));

    assert_eq!(viewer.get("/", "evil.example", ""), 403);
    assert_eq!(viewer.get("/", &host, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(viewer.get("/", &host, "Sec-Fetch-Site: cross-site\r\n"), 403);
    assert_eq!(viewer.post("/api/link", "http://evil.example", &good).0, 403);
    assert_eq!(viewer.post("/api/link", "null", &good).0, 403);
    for path in ["/../etc/passwd", "/etc/passwd", "//", "/api", "/api/link/"] {
        assert_eq!(viewer.get(path, &host, ""), 404, "{path}");
    }
    assert_eq!(viewer.get("/api/link", &host, ""), 405);
    for body in ["", "{", "[]", "null", "{\"state\":1}", &good.replace("\"seed\":1", "\"seed\":-1")] {
        assert_eq!(viewer.post("/api/link", &own, body).0, 400, "{body:.80}");
    }
    let plain = format!("POST /api/link HTTP/1.1\r\nHost: {host}\r\nOrigin: {own}\r\nContent-Length: 2\r\n\r\n{{}}");
    assert_eq!(viewer.send(&plain).0, 415);
    assert_eq!(viewer.send("GARBAGE\r\n\r\n").0, 400);
    assert_eq!(viewer.send(&format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(20_000))).0, 431);
    assert_eq!(viewer.post("/api/link", &own, &"x".repeat(2 << 20)).0, 413);
    // Sound JSON, senseless worlds: reported, not computed.
    for (key, value) in [
        ("room_m", serde_json::json!([0, -1, 0, 1, 0, 1])),
        ("room_m", serde_json::json!([0, 1e300, 0, 1, 0, 1])),
        ("tx", serde_json::json!({ "position_m": [99, 0, 1], "heading_deg": 0 })),
        ("tx_power_offset_db", serde_json::json!(1e9)),
        ("scene", serde_json::json!("x".repeat(100_000))),
        ("scorer", serde_json::json!("../../etc/passwd")),
        ("max_order", serde_json::json!(4)),
        ("shown", serde_json::json!(1)),
        ("views", serde_json::Value::Array(vec![state["rx"].clone(); 5])),
        ("views", serde_json::json!([{ "position_m": [1e9, 0, 1], "heading_deg": 0 }])),
    ] {
        let mut broken = state.clone();
        broken[key] = value;
        let (status, answer) = viewer.post("/api/link", &own, &broken.to_string());
        assert_eq!(status, 422, "{key}");
        assert!(answer.contains("error") && answer.len() < 2000);
        for (address, body) in [
            ("/api/coverage", broken.to_string()),
            ("/api/command", serde_json::json!({ "state": broken, "row": null, "command": "locate" }).to_string()),
        ] {
            // Neither asks a scorer, and a command says what is shown, wherever the TX is.
            let fine = key == "scorer" || (key == "tx" && address == "/api/command");
            assert_eq!(viewer.post(address, &own, &body).0, if fine { 200 } else { 422 }, "{key} at {address}");
        }
    }
    let mut crowd = state.clone();
    let one = state["boxes"][0].clone();
    crowd["boxes"] = serde_json::Value::Array(vec![one; 2001]);
    assert_eq!(viewer.post("/api/link", &own, &crowd.to_string()).0, 422);
    // The work of high orders grows with a power of the boxes.
    crowd["boxes"].as_array_mut().unwrap().truncate(13);
    crowd["max_order"] = 3.into();
    let (status, answer) = viewer.post("/api/coverage", &own, &crowd.to_string());
    assert!(status == 422 && answer.contains("up to 12 boxes"), "{answer}");
    let (status, answer) = viewer.post("/api/coverage", &own, &good);
    assert!(status == 200 && answer.contains("\"columns\":100"));
    assert_eq!(viewer.post("/api/scene", &own, "{\"scene\":\"nowhere\"}").0, 422);
    assert_eq!(viewer.post("/api/scene", &own, "{\"scene\":\"lab\"}").0, 200);
    let command = |kind: &str| {
        let body = serde_json::json!({ "state": state, "row": null, "command": kind }).to_string();
        viewer.post("/api/command", &own, &body)
    };
    assert!(command("trace").1.contains("magnetar trace lab_middle --tx "));
    assert_eq!(command("rm").0, 400);
    assert_eq!(viewer.post("/api/row", &own, "{\"split\":\"test\",\"index\":0}").0, 422);
    assert_eq!(viewer.post("/api/link", &own, &good).0, 200, "it still works");
}

/// Peers that send half a request, or ask for the page and never take it, do not keep the page from anybody else.
#[test]
fn slow_clients_do_not_lock_the_page_out() {
    let viewer = Viewer::start(&["lab_middle"]);
    let whole = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", viewer.host);
    let slow: Vec<TcpStream> = (0..200)
        .map(|n| {
            let mut stream = TcpStream::connect(&viewer.host).unwrap();
            // Whoever came long before may be turned away by now; the newest are not.
            let _ = stream.write_all(if n % 2 == 0 { b"GET / HT" } else { whole.as_bytes() });
            stream
        })
        .collect();
    for _ in 0..20 {
        let started = Instant::now();
        // While the hundred that asked are being answered it may have to ask again.
        let mut answers = std::iter::repeat_with(|| viewer.send(&whole));
        let (status, page) = answers.find(|(status, _)| *status != 503).unwrap();
        assert_eq!(status, 200);
        assert!(page.ends_with("</html>\n") || page.ends_with("</html>"), "the whole page");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
    drop(slow);
}

/// A measurement beside what is predicted of a TX put somewhere else.
#[test]
fn a_measurement_is_viewed_beside_a_prediction() {
    let folder = tempfile::tempdir().unwrap();
    let (heard, out) = (folder.path().join("heard.npy"), folder.path().join("view.html"));
    let observe = ["observe", "lab", "--tx", "1.2,1.9,,-80", "--rx", "1,-1,,90", "--count", "2", "--out", text(&heard)];
    cli::succeed(&observe);
    let view = ["view", "lab", "--observation", text(&heard), "--rx", "1,-1,,90", "--tx", "2,0,,-90"];
    cli::succeed(&[&view[..], &["--snapshot", "1", "--export", text(&out)]].concat());
    let page = fs::read_to_string(&out).unwrap();
    for words in
        ["Measured: snapshot 1 of", "Measured channel", "Predicted channel", "predicted path", "\"predicted\":[{"]
    {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("Simulated:"));
    for (args, words) in [
        (&["--snapshot", "2"][..], "there are 2"),
        (&["--noise-variance", "0"], "variance"),
        (&["--recipe", "nowhere"], "nowhere"),
    ] {
        let error = cli::fail(&[&view[..], args, &["--export", text(&out)]].concat());
        assert!(error.contains(words), "{args:?}: {error}");
    }
    assert!(cli::fail(&["view", "lab", "--observation", text(&heard)]).contains("--rx"));
}

#[test]
fn a_view_that_cannot_be_shown_is_refused_before_anything_is_served() {
    assert!(cli::fail(&["view", "no_such_scene"]).contains("no_such_scene"));
    assert!(cli::fail(&["view", "lab", "--tx", "99,0,1"]).contains("not inside the room"));
    assert!(cli::fail(&["view", "lab", "--row", "3"]).contains("dataset"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("view.html");
    cli::succeed(&["view", "lab_right", "--export", text(&out)]);
    let page = fs::read_to_string(&out).unwrap();
    assert!(page.contains("\"live\":false") && !page.contains("src=\"http"));
}
