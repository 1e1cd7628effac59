//! How Parquet writes what its pages hold: headers, runs of levels, integers, byte planes.

use magnetar_trace::with_avx2;
use parquet::basic::Encoding;

/// A field of type i32, or struct, whose number is so much more than that of the field before, in Thrift's compact protocol.
const NEXT_I32: u8 = 0x15;
const NEXT_STRUCT: u8 = 0x1c;
const THIRD_NEXT_STRUCT: u8 = 0x3c;
const END: u8 = 0;

/// The kinds of pages that are written, by their numbers in Parquet.
#[derive(Debug, Clone, Copy)]
enum PageKind {
    Data = 0,
    Dictionary = 2,
}

/// Bytes of a page before and after compression, and the CRC-32 of the latter.
pub(crate) struct PageSize {
    pub(crate) uncompressed: usize,
    pub(crate) compressed: usize,
    pub(crate) checksum: u32,
}

/// The header of a data page of so many levels (or values, where there are none).
pub(crate) fn data_page_header(page: &PageSize, values: usize, encoding: Encoding) -> Vec<u8> {
    let rle = Encoding::RLE as i32;
    header(PageKind::Data, page, NEXT_STRUCT, &[size(values), encoding as i32, rle, rle])
}

/// The header of a dictionary page of so many entries, written out in full.
pub(crate) fn dictionary_page_header(page: &PageSize, entries: usize) -> Vec<u8> {
    header(PageKind::Dictionary, page, THIRD_NEXT_STRUCT, &[size(entries), Encoding::PLAIN as i32])
}

fn header(kind: PageKind, page: &PageSize, about: u8, numbers: &[i32]) -> Vec<u8> {
    let number = |value: i32, header: &mut Vec<u8>| {
        header.push(NEXT_I32);
        varint(zigzag(i64::from(value)), header);
    };
    let mut header = Vec::with_capacity(32);
    for value in [kind as i32, size(page.uncompressed), size(page.compressed), page.checksum.cast_signed()] {
        number(value, &mut header);
    }
    header.push(about);
    numbers.iter().for_each(|value| number(*value, &mut header));
    header.extend([END, END]);
    header
}

fn size(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Seven bits per byte, the lowest first.
pub(crate) fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Bits that hold every number up to `most`.
pub(crate) fn bits_for(most: u64) -> usize {
    (u64::BITS - most.leading_zeros()) as usize
}

/// Small numbers of so many bits as runs (`RLE`): eight or more of one number as a run, others packed in groups of eight.
pub(crate) fn runs(numbers: &[u32], bits: usize, to: &mut Vec<u8>) {
    const GROUP: usize = 8;
    let (mut at, mut packed_from) = (0, 0);
    while at < numbers.len() {
        let run = numbers[at..].iter().take_while(|number| **number == numbers[at]).count();
        if run < GROUP {
            at = numbers.len().min(at + GROUP);
            continue;
        }
        packed(&numbers[packed_from..at], bits, to);
        varint((run << 1) as u64, to);
        to.extend_from_slice(&numbers[at].to_le_bytes()[..bits.div_ceil(8)]);
        at += run;
        packed_from = at;
    }
    packed(&numbers[packed_from..], bits, to);

    fn packed(numbers: &[u32], bits: usize, to: &mut Vec<u8>) {
        if numbers.is_empty() {
            return;
        }
        let groups = numbers.len().div_ceil(GROUP);
        varint((groups << 1 | 1) as u64, to);
        let padding = groups * GROUP - numbers.len();
        pack(numbers.iter().map(|x| u64::from(*x)).chain(std::iter::repeat_n(0, padding)), bits, to);
    }
}

/// Numbers of so many bits side by side, the lowest bits first.
fn pack(numbers: impl Iterator<Item = u64>, bits: usize, to: &mut Vec<u8>) {
    let (mut held, mut count) = (0_u128, 0);
    for number in numbers {
        held |= u128::from(number) << count;
        count += bits;
        while count >= 8 {
            to.push(held as u8);
            held >>= 8;
            count -= 8;
        }
    }
    if count > 0 {
        to.push(held as u8);
    }
}

/// Integers by their differences (`DELTA_BINARY_PACKED`), of four bytes or of eight.
pub(crate) fn differences(numbers: &[u64], four_bytes: bool, to: &mut Vec<u8>) {
    const BLOCK: usize = 128;
    const PARTS: usize = 4;
    let signed = |number: u64| {
        if four_bytes { i64::from((number as u32).cast_signed()) } else { number.cast_signed() }
    };
    // Differences wrap around as those of the stored type do.
    let wrapped = |number: i64| if four_bytes { i64::from(number as i32) } else { number };
    let unsigned = |number: i64| {
        if four_bytes { u64::from((number as i32).cast_unsigned()) } else { number.cast_unsigned() }
    };
    for value in [BLOCK, PARTS, numbers.len()] {
        varint(value as u64, to);
    }
    varint(zigzag(numbers.first().map_or(0, |first| signed(*first))), to);
    let steps: Vec<i64> =
        numbers.windows(2).map(|pair| wrapped(signed(pair[1]).wrapping_sub(signed(pair[0])))).collect();
    for block in steps.chunks(BLOCK) {
        let least = block.iter().copied().min().unwrap_or(0);
        varint(zigzag(least), to);
        let above = |step: &i64| unsigned(step.wrapping_sub(least));
        let mut widths = [0; PARTS];
        for (width, part) in widths.iter_mut().zip(block.chunks(BLOCK / PARTS)) {
            *width = bits_for(part.iter().map(above).max().unwrap_or(0));
        }
        to.extend(widths.map(|width| width as u8));
        for (width, part) in widths.into_iter().zip(block.chunks(BLOCK / PARTS)) {
            let padding = std::iter::repeat_n(0, BLOCK / PARTS - part.len());
            pack(part.iter().map(above).chain(padding), width, to);
        }
    }
}

/// Yes and no, a bit each, the lowest first.
pub(crate) fn booleans(values: &[bool], to: &mut Vec<u8>) {
    to.extend(
        values
            .chunks(8)
            .map(|eight| eight.iter().enumerate().fold(0, |byte, (bit, value)| byte | u8::from(*value) << bit)),
    );
}

/// Puts the first bytes of numbers of 2, 4 or 8 bytes each into the first plane, their second bytes into the second one, and
/// so on; the planes are `stride` bytes long, and `at` numbers are in them already.
pub(crate) fn split_planes(width: usize, numbers: &[u8], planes: &mut [u8], stride: usize, at: usize) {
    with_avx2!(split_avx2(width, numbers, planes, stride, at), split(width, numbers, planes, stride, at));
}

magnetar_signal::avx2_copy!(split_avx2 of split(width: usize, numbers: &[u8], planes: &mut [u8], stride: usize, at: usize));

#[inline(always)]
fn split(width: usize, numbers: &[u8], planes: &mut [u8], stride: usize, at: usize) {
    for (byte, plane) in planes.chunks_exact_mut(stride.max(1)).take(width).enumerate() {
        let plane = &mut plane[at..][..numbers.len() / width];
        match width {
            2 => plane
                .iter_mut()
                .zip(numbers.as_chunks::<2>().0)
                .for_each(|(to, x)| *to = (u16::from_le_bytes(*x) >> (8 * byte)) as u8),
            4 => plane
                .iter_mut()
                .zip(numbers.as_chunks::<4>().0)
                .for_each(|(to, x)| *to = (u32::from_le_bytes(*x) >> (8 * byte)) as u8),
            _ => plane
                .iter_mut()
                .zip(numbers.as_chunks::<8>().0)
                .for_each(|(to, x)| *to = (u64::from_le_bytes(*x) >> (8 * byte)) as u8),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the runs of a page mean, by the format's definition.
    fn read_runs(mut bytes: &[u8], bits: usize, count: usize) -> Vec<u32> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let mut head = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                bytes = &bytes[1..];
                head |= usize::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            if head & 1 == 0 {
                let value = bytes[..bits.div_ceil(8)].iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
                bytes = &bytes[bits.div_ceil(8)..];
                numbers.extend(std::iter::repeat_n(value, head >> 1));
            } else {
                let bit = |i: usize| u32::from(bytes[i / 8] >> (i % 8) & 1);
                let number = |n: usize| (0..bits).fold(0, |sum, b| sum | bit(n * bits + b) << b);
                numbers.extend((0..(head >> 1) * 8).map(number));
                bytes = &bytes[(head >> 1) * bits..];
            }
        }
        assert!(bytes.is_empty());
        numbers.truncate(count);
        numbers
    }

    proptest! {
        #[test]
        fn runs_read_back(parts in prop::collection::vec((0u32..9, 1usize..30), 0..40)) {
            let numbers: Vec<u32> = parts.iter().flat_map(|(x, n)| std::iter::repeat_n(*x, *n)).collect();
            let mut written = Vec::new();
            runs(&numbers, 4, &mut written);
            prop_assert_eq!(read_runs(&written, 4, numbers.len()), numbers);
        }

        #[test]
        fn planes_hold_the_bytes_of_the_numbers(bytes in prop::collection::vec(any::<u8>(), 0..90), at in 0usize..4) {
            for width in [2, 4, 8] {
                let numbers = &bytes[..bytes.len() / width * width];
                let count = numbers.len() / width;
                let stride = count + 5;
                let mut planes = vec![0; stride * width];
                split_planes(width, numbers, &mut planes, stride, at);
                for (i, byte) in numbers.iter().enumerate() {
                    prop_assert_eq!(planes[i % width * stride + at + i / width], *byte);
                }
            }
        }
    }
}
