//! Which address answers what.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::app::App;
use super::command::CommandRequest;
use super::http::{Request, Response};
use super::protocol::{LinkState, RowRequest, SceneRequest};
use crate::error::ReportError;

/// Answers the body of a request.
type Answer = fn(&App, &[u8]) -> Result<Response, ReportError>;

/// Method and answer of an address.
fn address(path: &str) -> Option<(&'static str, Answer)> {
    let answer: Answer = match path {
        "/" => |app, _| {
            let (state, result) = app.first()?;
            Ok(html_response(app.page(true, &state, &result)))
        },
        "/api/link" => |app, body| {
            let state: LinkState = parse(body)?;
            Ok(json_response(&json!({ "result": app.link(&state)? })))
        },
        "/api/scene" => |app, body| {
            let wanted: SceneRequest = parse(body)?;
            let (state, result) = app.scene_start(&wanted.scene)?;
            Ok(json_response(&json!({ "state": state, "result": result })))
        },
        "/api/row" => |app, body| {
            let row: RowRequest = parse(body)?;
            let (state, result) = app.row(&row)?;
            Ok(json_response(&json!({ "state": state, "result": result })))
        },
        "/api/coverage" => |app, body| {
            let state: LinkState = parse(body)?;
            Ok(json_response(&json!({ "coverage": app.coverage(&state)? })))
        },
        "/api/command" => |app, body| {
            let wanted: CommandRequest = parse(body)?;
            Ok(json_response(&json!({ "command": app.command(&wanted)? })))
        },
        "/api/export" => |app, body| {
            let state: LinkState = parse(body)?;
            let result = app.link(&state)?;
            Ok(html_response(app.page(false, &state, &result)))
        },
        _ => return None,
    };
    Some((if path == "/" { "GET" } else { "POST" }, answer))
}

impl App {
    /// Answers one request that has passed the server's checks.
    pub(super) fn answer(&self, request: &Request) -> Response {
        let path = request.path.split('?').next().unwrap_or_default();
        let Some((method, answer)) = address(path) else { return Response::error(404, "there is nothing here") };
        if request.method != method {
            return Response::error(405, &format!("this address is for {method}"));
        }
        if method == "POST"
            && !request.values("content-type").next_back().is_some_and(|kind| kind.starts_with("application/json"))
        {
            return Response::error(415, "expected Content-Type: application/json");
        }
        answer(self, &request.body).unwrap_or_else(|error| {
            let status = if matches!(error, ReportError::Request(_)) { 400 } else { 422 };
            Response::error(status, &error.to_string())
        })
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReportError> {
    serde_json::from_slice(body).map_err(ReportError::Request)
}

fn json_response(value: &Value) -> Response {
    Response { status: 200, content_type: "application/json", body: value.to_string().into_bytes() }
}

fn html_response(page: String) -> Response {
    Response { status: 200, content_type: "text/html; charset=utf-8", body: page.into_bytes() }
}
