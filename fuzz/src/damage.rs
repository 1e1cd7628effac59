//! Damage to a valid file, described by a few bytes: small inputs, always near a valid file.

/// Bytes of one edit.
pub const EDIT_BYTES: usize = 4;
/// Set in an edit's last place byte: the place counts from the end, where a Parquet file has its footer.
const FROM_END: u32 = 1 << 23;

/// A damaged copy. Each four bytes of `edits` are a place (24 bits, the highest set: counted from the end) and what is
/// flipped there; to flip nothing cuts the file off.
#[must_use]
pub fn damaged(file: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for edit in edits.chunks_exact(EDIT_BYTES) {
        if bytes.is_empty() {
            break;
        }
        let place = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]);
        let offset = (place & (FROM_END - 1)) as usize % bytes.len();
        let at = if place & FROM_END == 0 { offset } else { bytes.len() - 1 - offset };
        match edit[3] {
            0 => bytes.truncate(at),
            flip => bytes[at] ^= flip,
        }
    }
    bytes
}
