//! A zstd frame whose first part is raw and whose second part is compressed.
//!
//! A frame is a header and blocks; a block holds its bytes raw or compressed, and the first compressed one starts from fixed
//! tables and offsets that raw blocks do not change (RFC 8878, section 3.1.1). So the blocks of the second part's own frame
//! can stand behind raw ones.

use std::io;

use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// The mark at a frame's start.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Frame header: size of the content in four bytes, which is the window as well; no checksum, no dictionary.
const DESCRIPTOR: u8 = 0b1010_0000;
/// Most bytes in a block.
const BLOCK: usize = 128 << 10;
/// Bytes of a block's header.
const BLOCK_HEADER: usize = 3;
/// The bit of it that marks the last block.
const LAST: u8 = 1;

/// Up to this level, only repetitions of many bytes are looked for, and not far: in signs and exponents of noise short ones come
/// by chance, and coding single bytes by how often they occur makes less of them in half the time.
const FAST_LEVEL: i32 = 2;
const FAST: [CParameter; 2] = [CParameter::MinMatch(7), CParameter::HashLog(6)];

/// Makes frames, one after another.
pub(crate) struct Frame {
    compressor: Compressor<'static>,
    scratch: Vec<u8>,
}

impl Frame {
    /// With a compression level.
    ///
    /// # Errors
    /// If zstd does not have it.
    pub(crate) fn new(level: i32) -> io::Result<Self> {
        let mut compressor = Compressor::new(level)?;
        if level <= FAST_LEVEL {
            FAST.into_iter().try_for_each(|parameter| compressor.set_parameter(parameter))?;
        }
        Ok(Self { compressor, scratch: Vec::new() })
    }

    /// Appends a frame of bytes as they are and then bytes compressed, together fewer than 2^32; bytes that would get longer
    /// stay as they are.
    ///
    /// # Errors
    /// If zstd fails.
    pub(crate) fn append(&mut self, raw: &[u8], compressed: &[u8], frame: &mut Vec<u8>) -> io::Result<()> {
        self.compress(compressed)?;
        let content = raw.len() + compressed.len();
        frame.extend(MAGIC);
        frame.push(DESCRIPTOR);
        frame.extend((content as u32).to_le_bytes());
        let mut last = add_raw(raw, frame);
        if self.scratch.len() < compressed.len() {
            let mut rest = blocks_of(&self.scratch).unwrap_or_default();
            while let Some(header) = rest.first_chunk::<BLOCK_HEADER>() {
                let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
                // A block of one repeated byte holds that byte alone.
                let length = if header >> 1 & 3 == 1 { 1 } else { (header >> 3) as usize };
                let (block, after) = rest.split_at(rest.len().min(BLOCK_HEADER + length));
                last = Some(frame.len());
                frame.extend_from_slice(block);
                rest = after;
            }
        } else {
            last = add_raw(compressed, frame).or(last);
        }
        match last.and_then(|last| frame.get_mut(last)) {
            Some(header) => *header |= LAST,
            // Nothing at all is one empty block.
            None => frame.extend([LAST, 0, 0]),
        }
        Ok(())
    }

    fn compress(&mut self, content: &[u8]) -> io::Result<()> {
        self.scratch.resize(zstd::zstd_safe::compress_bound(content.len()), 0);
        let length = self.compressor.compress_to_buffer(content, &mut self.scratch[..])?;
        self.scratch.truncate(length);
        Ok(())
    }
}

/// Adds bytes as they are; where the header of the last block is.
fn add_raw(content: &[u8], frame: &mut Vec<u8>) -> Option<usize> {
    let mut last = None;
    for block in content.chunks(BLOCK) {
        last = Some(frame.len());
        frame.extend_from_slice(&((block.len() as u32) << 3).to_le_bytes()[..BLOCK_HEADER]);
        frame.extend_from_slice(block);
    }
    last
}

/// What follows a frame's header.
fn blocks_of(frame: &[u8]) -> Option<&[u8]> {
    let descriptor = *frame.strip_prefix(&MAGIC)?.first()?;
    let single_segment = descriptor & 0b10_0000 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        flag => 1 << flag,
    };
    frame.get(MAGIC.len() + 1 + usize::from(!single_segment) + dictionary + size..)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that repeat, and bytes that do not.
    fn content(length: usize, even: bool) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|i| if even { next() } else { next() & 3 | (i / 100) as u8 }).collect()
    }

    #[test]
    fn parts_read_back_as_one() {
        let mut frame = Frame::new(1).unwrap();
        for length in [1, 7, 255, 256, 5_000, 131_072, 131_073, 400_000] {
            let (noise, text) = (content(length, true), content(length, false));
            // What repeats, what does not, and one byte over and over, each as either part or alone.
            for (raw, compressed) in
                [(&noise, &text), (&text, &noise), (&noise, &vec![7; length]), (&Vec::new(), &text)]
            {
                let all = [raw.as_slice(), compressed].concat();
                let mut made = Vec::new();
                frame.append(raw, compressed, &mut made).unwrap();
                assert!(length < 5_000 || compressed == &noise || made.len() < raw.len() + compressed.len() * 9 / 10);
                assert_eq!(zstd::bulk::decompress(&made, all.len()).unwrap(), all);
                assert_eq!(zstd::decode_all(&made[..]).unwrap(), all);
            }
            let mut made = Vec::new();
            frame.append(&noise, &[], &mut made).unwrap();
            assert_eq!(zstd::decode_all(&made[..]).unwrap(), noise);
        }
        let mut made = Vec::new();
        frame.append(&[], &[], &mut made).unwrap();
        assert!(zstd::decode_all(&made[..]).unwrap().is_empty());
    }
}
