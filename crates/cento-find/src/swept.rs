//! The values of a parameter that a sweep varies, as they are typed: `2..10`, `10..80:10`,
//! `0.5,0.8..1.0`.

/// The most definitions of one sweep.
pub(crate) const MOST_POINTS: usize = 1000;
/// One, in billionths.
pub(crate) const ONE: u64 = 1_000_000_000;

/// Parses values in billionths. Ranges include their end, and have the given step unless one is
/// typed. Values are integers, so that 0.4 plus two steps of 0.1 is exactly 0.6.
pub(crate) fn swept_values(values: &str, step: u64, help: &str) -> Result<Vec<u64>, String> {
    let mut all: Vec<u64> = Vec::new();
    for item in values.split(',') {
        let read = |number: &str| {
            let number = billionths(number.trim());
            number.ok_or_else(|| {
                format!("`{item}` is neither a number of at most nine decimals nor a range: {help}")
            })
        };
        let Some((begin, rest)) = item.split_once("..") else {
            all.push(read(item)?);
            continue;
        };
        let (end, step) = match rest.split_once(':') {
            Some((end, step)) => (read(end)?, read(step)?),
            None => (read(rest)?, step),
        };
        let begin = read(begin)?;
        if end < begin {
            return Err(format!("`{item}` ends before it begins"));
        }
        if step == 0 || (end - begin) / step > MOST_POINTS as u64 {
            return Err(format!(
                "`{item}` is not a range of at most {MOST_POINTS} values"
            ));
        }
        all.extend((begin..=end).step_by(step as usize));
    }
    Ok(all)
}

/// A decimal below ten million in billionths. None if it is not exactly representable.
fn billionths(number: &str) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.len() + decimals.len() == 0 {
        return None;
    }
    let decimals = decimals.trim_end_matches('0');
    if whole.len() > 7 || decimals.len() > 9 {
        return None;
    }
    format!("{whole}{decimals:0<9}").parse().ok()
}
