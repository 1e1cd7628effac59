//! What is wrong with a campaign is named.

use super::*;

const WHOLE: &str = "name = \"a\"\nscene = \"lab\"\n[[recording]]\nobservations = \"a.npy\"\nrows = \"a.csv\"\n";

#[test]
fn a_campaign_is_read_or_its_key_named() {
    let campaign = Campaign::from_toml(WHOLE).unwrap();
    assert_eq!((campaign.recipe.as_str(), campaign.recording[0].split.as_str()), ("paper", "test"));
    let noise = |value: &str| Campaign::from_toml(&format!("{WHOLE}\n[receiver]\nnoise_variance = {value}\n")).unwrap();
    assert_eq!(noise("\"auto\"").receiver.noise_variance, Some(NoiseValue::Word("auto".into())));
    assert_eq!(noise("[1e-3, 2e-3]").receiver.noise_variance, Some(NoiseValue::Each(vec![1e-3, 2e-3])));
    for (text, words) in [
        ("", "name"),
        ("name = \"a\"\nscene = \"lab\"\nrecording = []\n", "[[recording]]"),
        (&format!("colour = 1\n{WHOLE}"), "line 1"),
        (&format!("{WHOLE}split = \"../x\"\n"), "split"),
        (&format!("{WHOLE}views = 0\n"), "views"),
        (&format!("{WHOLE}[board.none]\ncenter_m = [0, 0, 0]\nsize_m = [1, 1, 1]\n"), "board.none"),
        (&format!("{WHOLE}[board.a]\ncenter_m = [0, 0, nan]\nsize_m = [1, 1, 1]\n"), "board.a"),
    ] {
        let error = Campaign::from_toml(text).unwrap_err();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn rows_are_read_or_their_line_named() {
    let csv = "x,y,heading_deg,tx_x,tx_y,tx_heading_deg,placement,site\n1,-1,90,1.2,1.9,-80,left,3\n";
    let rows = campaign_rows(csv).unwrap();
    let json = "{\"x\":1,\"y\":-1,\"heading_deg\":90,\"tx_x\":1.2,\"tx_y\":1.9,\"tx_heading_deg\":-80,\"placement\":\"left\",\"site\":3}";
    assert_eq!(rows, campaign_rows(json).unwrap());
    assert!(rows[0].has_truth() && rows[0].site == Some(3));
    for (text, line, words) in [
        ("", 1, "no row"),
        ("x,y\n1,2", 1, "heading_deg"),
        ("x,y,heading_deg\n1,2,3\n1,2", 3, "2 values for 3 columns"),
        ("x,y,heading_deg\n1,2,", 2, "heading_deg is empty"),
        ("x,y,heading_deg\n1,2,1e300", 2, "within"),
        ("x,y,heading_deg,tx_x\n1,2,3,4", 2, "together"),
        ("x,y,heading_deg,protocol\n1,2,3,walk", 2, "full-rotation"),
        ("x,y,heading_deg,site\n1,2,3,-1", 2, "whole number"),
        ("{\"x\":1}\n{\"z\":", 2, "EOF"),
        ("{\"colour\":1}", 1, "colour"),
    ] {
        let (found, problem) = campaign_rows(text).unwrap_err();
        assert!(found == line && problem.contains(words), "{text:?}: {found} {problem}");
    }
}

#[test]
fn a_description_of_samples_is_read_or_its_key_named() {
    let meta = |global: &str| SigMfMeta::from_json(&format!("{{\"global\":{{{global}}},\"captures\":[]}}"));
    let whole = "\"core:datatype\":\"ci16_le\",\"core:sample_rate\":491.52e6,\"core:num_channels\":2";
    let read = meta(whole).unwrap();
    assert_eq!((read.channels, read.sample_bytes(), read.sample_rate_hz), (2, 8, 491.52e6));
    for (global, words) in [
        ("", "core:datatype"),
        ("\"core:datatype\":\"rf32_le\"", "cf32_le"),
        ("\"core:datatype\":\"cf32_le\"", "core:sample_rate"),
        ("\"core:datatype\":\"cf32_le\",\"core:sample_rate\":-1", "core:sample_rate"),
        ("\"core:datatype\":\"cf32_le\",\"core:sample_rate\":1e6", "core:num_channels"),
        ("\"core:datatype\":\"cf32_le\",\"core:sample_rate\":1e6,\"core:num_channels\":1e9", "core:num_channels"),
    ] {
        assert!(meta(global).unwrap_err().contains(words), "{global}");
    }
    assert!(SigMfMeta::from_json("{").is_err() && SigMfMeta::from_json("[]").is_err());
}
