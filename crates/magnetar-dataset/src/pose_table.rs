//! Tables of receiver poses, one for each snapshot: CSV or JSON Lines.

use magnetar_scene::MAX_COORDINATE;
use serde::Deserialize;

/// One pose of a table.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablePose {
    /// Metres in the scene's frame.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Height, metres; the scene's device height if left out.
    pub z: Option<f64>,
    /// Degrees counter-clockwise from +x.
    pub heading_deg: f64,
}

/// What is wrong with a table of poses, and in which line.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct PoseTableError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: PoseProblem,
}

/// What is wrong with a line of a table of poses.
#[derive(Debug, thiserror::Error)]
pub enum PoseProblem {
    /// Columns are missing.
    #[error("the header is {found:?}; expected x,y,heading_deg, and z if there is one")]
    Header {
        /// The first line.
        found: String,
    },
    /// A cell holds no number.
    #[error("{column} is {cell:?}, not a number")]
    Number {
        /// Its column.
        column: String,
        /// What it holds.
        cell: String,
    },
    /// A number that no room has.
    #[error("expected numbers within +-{MAX_COORDINATE}")]
    Range,
    /// A line that is no such object.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

impl TablePose {
    fn checked(self) -> Result<Self, PoseProblem> {
        let sane = |x: f64| x.abs() <= MAX_COORDINATE;
        let all = sane(self.x) && sane(self.y) && sane(self.heading_deg) && self.z.is_none_or(sane);
        if all { Ok(self) } else { Err(PoseProblem::Range) }
    }
}

/// Lines that hold something, with their numbers from 1.
fn filled_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(n, line)| (n + 1, line)).filter(|(_, line)| !line.trim().is_empty())
}

/// Poses of JSON Lines: one object per line.
///
/// # Errors
/// Names the first line that is wrong.
pub fn poses_from_json_lines(text: &str) -> Result<Vec<TablePose>, PoseTableError> {
    let pose = |text: &str| serde_json::from_str::<TablePose>(text).map_err(PoseProblem::from)?.checked();
    filled_lines(text).map(|(line, text)| pose(text).map_err(|problem| PoseTableError { line, problem })).collect()
}

/// Poses of a table with a header; columns that are not known are left aside.
///
/// # Errors
/// Names the first line that is wrong.
pub fn poses_from_csv(text: &str) -> Result<Vec<TablePose>, PoseTableError> {
    let mut lines = filled_lines(text);
    let header: Vec<&str> = lines.next().map(|(_, line)| line.split(',').map(str::trim).collect()).unwrap_or_default();
    let column = |name: &str| header.iter().position(|found| *found == name);
    let (Some(x), Some(y), Some(heading)) = (column("x"), column("y"), column("heading_deg")) else {
        return Err(PoseTableError { line: 1, problem: PoseProblem::Header { found: header.join(",") } });
    };
    let z = column("z");
    let pose = |text: &str| {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        let number = |column: usize| {
            let cell = cells.get(column).copied().unwrap_or_default();
            let unreadable = |_| PoseProblem::Number { column: header[column].to_owned(), cell: cell.to_owned() };
            cell.parse::<f64>().map_err(unreadable)
        };
        let z = z.map(number).transpose()?;
        TablePose { x: number(x)?, y: number(y)?, z, heading_deg: number(heading)? }.checked()
    };
    lines.map(|(line, text)| pose(text).map_err(|problem| PoseTableError { line, problem })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_objects_give_the_same_poses() {
        let expected = vec![
            TablePose { x: 1.0, y: -2.5, z: None, heading_deg: 90.0 },
            TablePose { x: 0.0, y: 3.0, z: None, heading_deg: -10.0 },
        ];
        assert_eq!(poses_from_csv("x, y, note, heading_deg\n1,-2.5,a,90\n\n0,3,b,-10\n").unwrap(), expected);
        let lines = "{\"x\":1,\"y\":-2.5,\"heading_deg\":90}\n{\"x\":0,\"y\":3.0,\"heading_deg\":-10}\n";
        assert_eq!(poses_from_json_lines(lines).unwrap(), expected);
        assert_eq!(poses_from_csv("x,y,z,heading_deg\n1,2,1.2,0").unwrap()[0].z, Some(1.2));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let refused = |text: &str| poses_from_csv(text).unwrap_err();
        assert_eq!(refused("x,y\n1,2").line, 1);
        assert_eq!(refused("").line, 1);
        assert_eq!(refused("x,y,heading_deg\n1,2,3\n1,two,3").to_string(), "line 3: y is \"two\", not a number");
        assert_eq!(refused("x,y,heading_deg\n1,2").line, 2);
        assert!(matches!(refused("x,y,heading_deg\n1,2,1e300").problem, PoseProblem::Range));
        assert!(matches!(refused("x,y,heading_deg\nnan,2,3").problem, PoseProblem::Range));
        assert_eq!(poses_from_json_lines("{\"x\":1,\"y\":2,\"heading_deg\":3}\n{\"x\":1}").unwrap_err().line, 2);
    }
}
