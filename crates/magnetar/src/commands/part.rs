//! `--part`: which slice of a dataset this run makes.

use std::env;

use magnetar_dataset::Slice;

/// What numbers the tasks of an array job: its name, the variable with the number, what the first number is, and the
/// variable with how many there are.
struct Scheduler {
    name: &'static str,
    number: &'static str,
    /// The variable with the first task's number; 0 if there is none.
    first: Option<&'static str>,
    count: Option<&'static str>,
    /// The variable with the distance of two tasks' numbers; 1 if there is none.
    step: Option<&'static str>,
}

const SCHEDULERS: [Scheduler; 3] = [
    Scheduler {
        name: "Slurm",
        number: "SLURM_ARRAY_TASK_ID",
        first: Some("SLURM_ARRAY_TASK_MIN"),
        count: Some("SLURM_ARRAY_TASK_COUNT"),
        step: Some("SLURM_ARRAY_TASK_STEP"),
    },
    Scheduler {
        name: "AWS Batch",
        number: "AWS_BATCH_JOB_ARRAY_INDEX",
        first: None,
        count: Some("AWS_BATCH_JOB_ARRAY_SIZE"),
        step: None,
    },
    Scheduler { name: "Kubernetes", number: "JOB_COMPLETION_INDEX", first: None, count: None, step: None },
];

/// What `--part` asks for.
#[derive(Debug, Clone, Copy)]
pub enum PartChoice {
    /// `I/N`.
    Given(Slice),
    /// `auto` or `auto/N`: what the scheduler says, and how many parts there are if it was given.
    Auto(Option<u64>),
}

impl PartChoice {
    /// The slice to make.
    pub fn slice(self) -> anyhow::Result<Slice> {
        match self {
            Self::Given(slice) => Ok(slice),
            Self::Auto(parts) => {
                of_scheduler(&|name| env::var(name).ok(), parts).map_err(|e| anyhow::anyhow!("--part auto: {e}"))
            }
        }
    }
}

/// Reads `I/N`, `auto` (part and number of parts from the scheduler) or `auto/N` (the part from the scheduler).
pub fn parse_part(text: &str) -> Result<PartChoice, String> {
    let expected = || "expected I/N with I from 1 to N, such as 2/4, or auto, or auto/N".to_owned();
    if text == "auto" {
        return Ok(PartChoice::Auto(None));
    }
    let (part, parts) = text.split_once('/').ok_or_else(expected)?;
    let parts: u64 = parts.trim().parse().map_err(|_| expected())?;
    if part.trim() == "auto" {
        return Ok(PartChoice::Auto(Some(parts)));
    }
    let part: u64 = part.trim().parse().map_err(|_| expected())?;
    let given = PartChoice::Given(Slice::Part { part, parts });
    if (1..=parts).contains(&part) { Ok(given) } else { Err(expected()) }
}

fn of_scheduler(variable: &impl Fn(&str) -> Option<String>, parts: Option<u64>) -> Result<Slice, String> {
    let number = |name: &str| -> Result<Option<u64>, String> {
        let Some(text) = variable(name) else { return Ok(None) };
        text.trim().parse().map(Some).map_err(|_| format!("{name} is {text:?}: expected a whole number"))
    };
    for scheduler in &SCHEDULERS {
        let Some(task) = number(scheduler.number)? else { continue };
        let of = |name: Option<&str>| name.map_or(Ok(None), number);
        let (first, step) = (of(scheduler.first)?.unwrap_or(0), of(scheduler.step)?.unwrap_or(1).max(1));
        let parts = match (parts, of(scheduler.count)?) {
            (Some(parts), _) | (None, Some(parts)) => parts,
            (None, None) => {
                return Err(format!("{} does not say how many tasks there are: give --part auto/N", scheduler.name));
            }
        };
        let part = task.checked_sub(first).map(|since| since / step + 1).filter(|part| *part <= parts);
        let part =
            part.ok_or_else(|| format!("{} is {task}, and there are {parts} parts from {first} on", scheduler.number))?;
        return Ok(Slice::Part { part, parts });
    }
    let names = SCHEDULERS.map(|scheduler| scheduler.number).join(", ");
    Err(format!("no task of an array job runs here (none of {names} is set); give --part I/N"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, variables: &[(&str, &str)]) -> Result<(u64, u64), String> {
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        let slice = match parse_part(text)? {
            PartChoice::Given(slice) => slice,
            PartChoice::Auto(parts) => of_scheduler(&variable, parts)?,
        };
        match slice {
            Slice::Part { part, parts } => Ok((part, parts)),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(with("1/4", &[]), Ok((1, 4)));
        assert_eq!(with("4/4", &[]), Ok((4, 4)));
        for wrong in ["0/4", "5/4", "1", "a/b", "1/-4", "", "auto/x"] {
            assert!(with(wrong, &[]).unwrap_err().contains("I/N"), "{wrong}");
        }
    }

    #[test]
    fn schedulers_number_the_parts() {
        let slurm = |id, more: &[(&'static str, &'static str)]| {
            let mut all = vec![("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", "5")];
            all.extend_from_slice(more);
            with("auto", &all)
        };
        assert_eq!(slurm("0", &[]), Ok((1, 5)));
        // --array=1-5, and --array=10-18:2.
        assert_eq!(slurm("1", &[("SLURM_ARRAY_TASK_MIN", "1")]), Ok((1, 5)));
        assert_eq!(slurm("18", &[("SLURM_ARRAY_TASK_MIN", "10"), ("SLURM_ARRAY_TASK_STEP", "2")]), Ok((5, 5)));
        assert!(slurm("7", &[]).unwrap_err().contains("SLURM_ARRAY_TASK_ID is 7"));
        assert!(slurm("x", &[]).unwrap_err().contains("expected a whole number"));
        let batch = [("AWS_BATCH_JOB_ARRAY_INDEX", "2"), ("AWS_BATCH_JOB_ARRAY_SIZE", "3")];
        assert_eq!(with("auto", &batch), Ok((3, 3)));
        let kubernetes = [("JOB_COMPLETION_INDEX", "7")];
        assert_eq!(with("auto/8", &kubernetes), Ok((8, 8)));
        assert!(with("auto", &kubernetes).unwrap_err().contains("auto/N"));
        assert!(with("auto/7", &kubernetes).unwrap_err().contains("7 parts"));
        assert!(with("auto", &[]).unwrap_err().contains("SLURM_ARRAY_TASK_ID"));
    }
}
