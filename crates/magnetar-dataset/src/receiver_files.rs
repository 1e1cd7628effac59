//! Files about a receiver: calibration factors, phases by angle, lists of bins.

use std::path::Path;

use magnetar_files::npy::NpyReader;
use magnetar_signal::{Band, BinGrid, LineArray, PhaseTable, ReceiverCalibration};
use num_complex::Complex64;

use crate::error::DatasetError;
use crate::manifest::read_whole;

/// A larger table of phases is a mistake.
const MAX_TABLE_BYTES: u64 = 1 << 20;

/// Reads calibration factors: `.npy` of complex numbers, `[bins, channels]`, or `[channels]` for all bins alike.
///
/// # Errors
/// The file cannot be read, has another shape, or a factor that nothing can be divided by.
pub fn read_calibration(path: &Path) -> Result<ReceiverCalibration, DatasetError> {
    let npy = |e: magnetar_files::npy::NpyError| DatasetError::invalid(path, e);
    let mut reader = NpyReader::open(path).map_err(npy)?;
    let header = reader.header();
    let (bins, channels) = match header.shape[..] {
        [channels @ 2..=LineArray::MAX_ELEMENTS] => (1, channels),
        [bins, channels @ 2..=LineArray::MAX_ELEMENTS] if bins <= Band::BINS.max => (bins, channels),
        _ => {
            let problem = format!(
                "the shape is {:?}; expected [bins, channels], or [channels] for all bins, with 2 to {} channels",
                header.shape,
                LineArray::MAX_ELEMENTS
            );
            return Err(DatasetError::invalid(path, problem));
        }
    };
    if !header.dtype.is_complex() {
        let problem = format!("the elements are {}; expected complex64 or complex128", header.dtype.name());
        return Err(DatasetError::invalid(path, problem));
    }
    let mut factors = vec![Complex64::new(0.0, 0.0); bins * channels];
    reader.read_into(&mut factors).map_err(npy)?;
    ReceiverCalibration::new(factors, channels).map_err(|e| DatasetError::invalid(path, e))
}

/// Reads inter-channel phases by angle: a CSV with the header `aoa_deg,phase_deg`.
///
/// # Errors
/// The file cannot be read, or names the line that is wrong.
pub fn read_phase_table(path: &Path) -> Result<PhaseTable, DatasetError> {
    let text = read_whole(path, MAX_TABLE_BYTES, "not a table of phases")?;
    phase_table(&text).map_err(|(line, problem)| DatasetError::invalid(path, format!("line {line}: {problem}")))
}

/// A table of phases from its text; the error names the line.
///
/// # Errors
/// What is wrong in which line, counted from 1.
pub fn phase_table(text: &str) -> Result<PhaseTable, (usize, String)> {
    let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim())).filter(|(_, l)| !l.is_empty());
    let columns = |line: &str| line.split(',').map(|x| x.trim().to_owned()).collect::<Vec<_>>();
    match lines.next() {
        Some((_, header)) if columns(header) == ["aoa_deg", "phase_deg"] => {}
        found => return Err((found.map_or(1, |(n, _)| n), "expected the header aoa_deg,phase_deg".into())),
    }
    let (mut rows, mut places) = (Vec::new(), Vec::new());
    for (n, line) in lines {
        let values: Option<Vec<f64>> = columns(line).iter().map(|x| x.parse().ok()).collect();
        match values.as_deref() {
            Some(&[aoa, phase]) => rows.push((aoa, phase)),
            _ => return Err((n, "expected two numbers".into())),
        }
        places.push(n);
    }
    PhaseTable::new(&rows)
        .map_err(|(row, expected)| (places.get(row).copied().unwrap_or(1), format!("expected {expected}")))
}

/// The grid of bins that are subcarriers, by numbers and ranges with or without a step, such as `-28..-2:2,-1..27:2,28`.
///
/// # Errors
/// Names the part that is no subcarrier or range, or says why they make no grid.
pub fn subcarrier_list(text: &str) -> Result<BinGrid, String> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let bad = || format!("{part:?} is no subcarrier or range such as -28..-2 or -28..-2:2");
        let number = |x: &str| x.trim().parse::<i32>().map_err(|_| bad());
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once("..").unwrap_or((range, range));
        let (first, last, step) = (number(first)?, number(last)?, number(step)?);
        if first > last || step < 1 || numbers.len() > Band::BINS.max {
            return Err(bad());
        }
        numbers.extend((i64::from(first)..=i64::from(last)).step_by(step as usize).take(Band::BINS.max + 1));
    }
    BinGrid::new(&numbers).map_err(|error| error.to_string())
}

/// Bins by numbers and ranges, such as `0-15,496-511`, sorted and each once.
///
/// # Errors
/// Names the part that is no bin or range.
pub fn bin_list(text: &str) -> Result<Vec<usize>, String> {
    let mut bins = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |x: &str| x.trim().parse::<usize>().ok().filter(|&n| n < Band::BINS.max);
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => bins.extend(first..=last),
            _ => return Err(format!("{part:?} is no bin or range of bins such as 0-15")),
        }
        // Ranges that repeat each other must not pile up.
        bins.sort_unstable();
        bins.dedup();
    }
    Ok(bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_phases_is_read_or_its_line_named() {
        let table = phase_table("aoa_deg, phase_deg\n-30,5\n\n10,-5\n").unwrap();
        assert!(table.at(-10f64.to_radians()).abs() < 1e-9);
        for (text, line) in [
            ("", 1),
            ("a,b\n1,2", 1),
            ("aoa_deg,phase_deg\n", 1),
            ("aoa_deg,phase_deg\n1,2\n\n1,3", 4),
            ("aoa_deg,phase_deg\n1,x", 2),
            ("aoa_deg,phase_deg\n1,2,3", 2),
        ] {
            assert_eq!(phase_table(text).unwrap_err().0, line, "{text:?}");
        }
    }

    #[test]
    fn subcarriers_are_numbers_and_ranges() {
        let listed: Vec<i64> = (-28..=-2).step_by(2).chain((-1..=27).step_by(2)).chain([28]).collect();
        assert_eq!(subcarrier_list("-28..-2:2, -1..27:2,28"), Ok(BinGrid::new(&listed).unwrap()));
        assert_eq!(subcarrier_list("-4..4"), Ok(BinGrid::new(&(-4..=4).collect::<Vec<_>>()).unwrap()));
        for (bad, place) in [
            ("", "\"\""),
            ("1,x", "\"x\""),
            ("3..1", "\"3..1\""),
            ("1..9:0", "\"1..9:0\""),
            ("1..12,3", "3 follows 12"),
            ("1..4", "4 subcarriers"),
            ("-2147483648..2147483647", "from -2147483648"),
        ] {
            let error = subcarrier_list(bad).unwrap_err();
            assert!(error.contains(place), "{bad}: {error}");
        }
    }

    #[test]
    fn bins_are_numbers_and_ranges() {
        assert_eq!(bin_list("5,0-2, 1-3"), Ok(vec![0, 1, 2, 3, 5]));
        for bad in ["", "a", "3-1", "-1", "99999999", "1,"] {
            assert!(bin_list(bad).is_err(), "{bad}");
        }
    }
}
