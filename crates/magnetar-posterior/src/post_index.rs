//! I_post: the paper's posterior-quality index over a set of designs.

/// The five metrics a design is ranked by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DesignMetrics {
    /// NLL, nat.
    pub nll: f64,
    /// Joint-MAP XY error, metres.
    pub map_xy_m: f64,
    /// Joint-MAP heading error, degrees.
    pub map_yaw_deg: f64,
    /// HPD gap, percentage points.
    pub hpd_gap_pp: f64,
    /// V@40 %, %.
    pub v40_percent: f64,
}

/// `I_post = (r_NLL + (r_XY + r_phi) / 2 + (r_cal + r_V) / 2) / 3` with ascending ranks (1 = best). Equal values share
/// the better rank.
#[must_use]
pub fn post_index(designs: &[DesignMetrics]) -> Vec<f64> {
    let rank = |of: fn(&DesignMetrics) -> f64, value: f64| 1 + designs.iter().filter(|d| of(d) < value).count();
    let index = |d: &DesignMetrics| {
        let by = |of: fn(&DesignMetrics) -> f64| rank(of, of(d)) as f64;
        let pose = (by(|d| d.map_xy_m) + by(|d| d.map_yaw_deg)) / 2.0;
        let uncertainty = (by(|d| d.hpd_gap_pp) + by(|d| d.v40_percent)) / 2.0;
        (by(|d| d.nll) + pose + uncertainty) / 3.0
    };
    designs.iter().map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_real_columns_give_the_papers_index() {
        // Table (a), Real, the mean of S and S+R_NB for all 13 designs: NLL, HPD gap, V@40, MAP XY, MAP yaw.
        let table = "
            8.8575 8.55 7.7 2.735 59.7 6.50
            8.6795 6.15 7.6 2.625 60.95 4.67
            8.841 21.4 5.7 1.97 51.55 4.33
            8.845 18.1 5.35 1.915 50.0 4.00
            7.988 9.55 4.3 2.0 53.95 3.00
            9.142 6.0 14.8 2.33 75.4 9.00
            9.0055 10.35 10.15 2.905 71.35 8.67
            9.113 5.3 13.7 2.66 63.65 8.17
            9.119 7.6 15.35 2.635 70.7 9.67
            9.21 6.0 12.3 2.415 83.1 8.83
            9.5265 14.4 13.4 2.545 88.5 11.00
            8.946 3.5 11.9 2.59 70.45 5.67
            9.0245 4.3 13.4 2.595 72.35 7.50";
        let numbers = |line: &str| -> Vec<f64> { line.split_whitespace().map(|x| x.parse().unwrap()).collect() };
        let table: Vec<[f64; 6]> = table.trim().lines().map(|line| numbers(line).try_into().unwrap()).collect();
        let designs: Vec<_> = table
            .iter()
            .map(|&[nll, hpd_gap_pp, v40_percent, map_xy_m, map_yaw_deg, _]| DesignMetrics {
                nll,
                map_xy_m,
                map_yaw_deg,
                hpd_gap_pp,
                v40_percent,
            })
            .collect();
        let index = post_index(&designs);
        let best = index.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(index[4], best);
        for (got, row) in index.iter().zip(table) {
            // The printed means are rounded, so a rank may differ by one here and there.
            assert!((got - row[5]).abs() < 0.35, "{got} {}", row[5]);
        }
        assert!((index[4] - 3.0).abs() < 0.2);
    }

    #[test]
    fn equals_share_the_better_rank() {
        let d = DesignMetrics { nll: 1.0, map_xy_m: 1.0, map_yaw_deg: 1.0, hpd_gap_pp: 1.0, v40_percent: 1.0 };
        assert_eq!(post_index(&[d, d]), vec![1.0, 1.0]);
    }
}
