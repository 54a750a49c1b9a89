//! Formats numbers, by decimal digits and never by logarithms, whose last bit differs between
//! machines.

use crate::figure::NumberFormat;

/// Larger numbers are written with a power of ten.
const LARGEST: f64 = 1e15;

/// Returns the power of ten of the first digit: `exponent(250.0) == 2`; 0 for zero.
pub(crate) fn exponent(value: f64) -> i32 {
    let written = format!("{value:e}");
    written
        .split_once('e')
        .and_then(|(_, digits)| digits.parse().ok())
        .unwrap_or(0)
}

/// Returns the float nearest to `digits × 10^exponent`.
pub(crate) fn decimal(digits: i64, exponent: i32) -> f64 {
    format!("{digits}e{exponent}").parse().unwrap_or(0.0)
}

/// Formats a number with some decimals and commas between thousands.
pub(crate) fn grouped(value: f64, decimals: usize) -> String {
    let written = format!("{:.*}", decimals.min(15), value.abs());
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let mut out = String::new();
    if value < 0.0 && written.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) {
        out.push('−');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// Formats `10⁵` with superscript characters, which can be copied as text.
pub(crate) fn power(exponent: i32) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or('⁰'),
    });
    std::iter::once('1')
        .chain(std::iter::once('0'))
        .chain(raised)
        .collect()
}

/// Formats a number with some significant digits, without trailing zeros.
fn significant(value: f64, digits: usize) -> String {
    let rounded: f64 = format!("{:.*e}", digits.saturating_sub(1), value)
        .parse()
        .unwrap_or(value);
    let exponent = exponent(rounded);
    if rounded == 0.0 {
        return "0".to_owned();
    }
    if rounded.abs() >= LARGEST || exponent < -4 {
        return scientific(rounded);
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    trimmed(grouped(rounded, decimals))
}

fn trimmed(number: String) -> String {
    if number.contains('.') {
        number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    } else {
        number
    }
}

/// Formats `2.5×10¹⁸` with up to four digits.
fn scientific(value: f64) -> String {
    let written = format!("{value:.3e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let mantissa = trimmed(mantissa.replace('-', "−"));
    let power = power(exponent.parse().unwrap_or(0));
    match mantissa.as_str() {
        "1" => power,
        "−1" => format!("−{power}"),
        _ => format!("{mantissa}×{power}"),
    }
}

const BYTES: [(f64, &str); 7] = [
    (1e18, "EB"),
    (1e15, "PB"),
    (1e12, "TB"),
    (1e9, "GB"),
    (1e6, "MB"),
    (1e3, "kB"),
    (1.0, "B"),
];
const COUNTS: [(f64, &str); 4] = [(1e12, "tn"), (1e9, "bn"), (1e6, "M"), (1.0, "")];

fn unit_for(units: &[(f64, &'static str)], value: f64) -> (f64, &'static str) {
    let fitting = units.iter().find(|(size, _)| value.abs() >= *size);
    fitting.or(units.last()).copied().unwrap_or((1.0, ""))
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() {
        number.to_owned()
    } else {
        format!("{number}\u{A0}{unit}")
    }
}

/// Formats a single value, as at the end of a bar.
pub(crate) fn value(format: NumberFormat, value: f64) -> String {
    match format {
        NumberFormat::Share if value.abs() < LARGEST => {
            let percent = value * 100.0;
            let digits = if percent.abs() >= 99.5 {
                4
            } else if percent.abs() >= 9.95 {
                3
            } else {
                2
            };
            format!("{}%", significant(percent, digits))
        }
        NumberFormat::Bytes if value.abs() < 1e21 => {
            let (size, unit) = unit_for(&BYTES, value);
            with_unit(&significant(value / size, 3), unit)
        }
        NumberFormat::Count if value.abs() < LARGEST && value.fract() == 0.0 => grouped(value, 0),
        _ => significant(value, if value.abs() >= 1000.0 { 6 } else { 3 }),
    }
}

/// Formats a tick of a linear axis, whose ticks are multiples of `digit × 10^exponent` up to
/// `largest`.
pub(crate) fn linear_tick(format: NumberFormat, value: f64, exponent: i32, largest: f64) -> String {
    let decimals = |exponent: i32| usize::try_from(-exponent).unwrap_or(0);
    let small = exponent < -6 && largest < 1.0;
    match format {
        _ if value == 0.0 => match format {
            NumberFormat::Share => "0%".to_owned(),
            _ => "0".to_owned(),
        },
        NumberFormat::Share if largest < 1e6 && exponent >= -8 => {
            format!(
                "{}%",
                grouped(value * 100.0, decimals(exponent.saturating_add(2)))
            )
        }
        NumberFormat::Bytes if largest < 1e21 && exponent >= 0 => {
            let (size, unit) = unit_for(&BYTES, largest);
            with_unit(
                &grouped(value / size, decimals(exponent - self::exponent(size))),
                unit,
            )
        }
        _ if largest >= LARGEST || small => scientific(value),
        _ if largest >= 1e7 && exponent >= 3 => {
            let (size, unit) = unit_for(&COUNTS, largest);
            with_unit(
                &grouped(value / size, decimals(exponent - self::exponent(size))),
                unit,
            )
        }
        _ => grouped(value, decimals(exponent)),
    }
}

/// Formats the tick `digit × 10^exponent` of a logarithmic axis between two exponents.
pub(crate) fn log_tick(
    format: NumberFormat,
    digit: i64,
    exponent: i32,
    from: i32,
    to: i32,
) -> String {
    let value = decimal(digit, exponent);
    match format {
        NumberFormat::Share if from >= -6 && to <= 3 => {
            format!(
                "{}%",
                grouped(
                    decimal(digit, exponent + 2),
                    usize::try_from(-exponent - 2).unwrap_or(0)
                )
            )
        }
        NumberFormat::Bytes if from >= 0 && to <= 20 => self::value(format, value),
        NumberFormat::Plain | NumberFormat::Count | NumberFormat::Bytes
            if from >= -3 && to <= 4 =>
        {
            grouped(value, usize::try_from(-exponent).unwrap_or(0))
        }
        _ if digit == 1 => power(exponent),
        _ => format!("{digit}×{}", power(exponent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_and_a_minus_sign() {
        assert_eq!(grouped(1_234_567.0, 0), "1,234,567");
        assert_eq!(grouped(-1_234.5, 1), "−1,234.5");
        assert_eq!(grouped(-0.01, 1), "0.0");
        assert_eq!(power(-12), "10⁻¹²");
    }

    #[test]
    fn values_follow_their_format() {
        assert_eq!(value(NumberFormat::Share, 0.643), "64.3%");
        assert_eq!(value(NumberFormat::Share, 0.000_412), "0.041%");
        assert_eq!(value(NumberFormat::Share, 1.0), "100%");
        assert_eq!(value(NumberFormat::Bytes, 1_230_000.0), "1.23\u{A0}MB");
        assert_eq!(value(NumberFormat::Count, 24_000_000.0), "24,000,000");
        assert_eq!(value(NumberFormat::Plain, 1e300), "10³⁰⁰");
        assert_eq!(value(NumberFormat::Plain, -2.5e-7), "−2.5×10⁻⁷");
        assert_eq!(value(NumberFormat::Plain, 0.1 + 0.2), "0.3");
    }

    #[test]
    fn ticks_of_an_axis_share_a_unit() {
        assert_eq!(linear_tick(NumberFormat::Count, 20e6, 7, 60e6), "20\u{A0}M");
        assert_eq!(
            linear_tick(NumberFormat::Count, 2_500.0, 2, 6_000.0),
            "2,500"
        );
        assert_eq!(linear_tick(NumberFormat::Share, 0.05, -2, 0.3), "5%");
        assert_eq!(
            linear_tick(NumberFormat::Bytes, 500e6, 8, 2e9),
            "0.5\u{A0}GB"
        );
        assert_eq!(log_tick(NumberFormat::Count, 1, 4, 0, 4), "10,000");
        assert_eq!(log_tick(NumberFormat::Count, 1, 4, 0, 7), "10⁴");
        assert_eq!(log_tick(NumberFormat::Share, 1, -4, -4, 0), "0.01%");
    }
}
