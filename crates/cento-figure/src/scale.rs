//! From values to positions: the domain of an axis, its ticks and their labels.

use crate::figure::{Axis, NumberFormat, Scale};
use crate::number::{decimal, exponent, linear_tick, log_tick};
use crate::survey::Extent;

/// The range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Domain {
    Linear {
        low: f64,
        high: f64,
    },
    /// Both ends, as powers of ten.
    Log {
        low: f64,
        high: f64,
    },
    Slots(usize),
}

/// A tick with its value and label. Minor ticks have no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

impl Domain {
    /// Returns the domain that shows all of an extent. Bars begin at zero, or visibly below the
    /// smallest value if the axis has no zero.
    pub(crate) fn of(
        axis: &Axis,
        scale: &Scale,
        extent: Extent,
        slots: usize,
        bars: bool,
    ) -> Domain {
        match scale {
            Scale::Categories(_) => Domain::Slots(slots.max(1)),
            Scale::Linear => linear_domain(axis.format, extent, bars),
            Scale::Log10 => log_domain(extent, bars),
        }
    }

    /// Adds a margin, so that marks are not cut off at the edges. Meaningful ends are kept: zero,
    /// and 100 % of a share.
    pub(crate) fn with_room(self, format: NumberFormat, extent: Extent) -> Domain {
        let Domain::Linear { low, high } = self else {
            return self;
        };
        let room = (high / 2.0 - low / 2.0) * 0.06;
        let stays = |end: f64| end == 0.0 || (format == NumberFormat::Share && end == 1.0);
        let lower = if !stays(low) && extent.low - low < room / 2.0 {
            low - room
        } else {
            low
        };
        let higher = if !stays(high) && high - extent.high < room / 2.0 {
            high + room
        } else {
            high
        };
        Domain::Linear {
            low: lower.max(-f64::MAX),
            high: higher.min(f64::MAX),
        }
    }

    /// Returns the position of a value, from 0 to 1. The survey has checked that the axis can show
    /// it.
    fn share(&self, value: f64) -> f64 {
        let share = match *self {
            // Halves, because the difference of two large numbers may overflow.
            Domain::Linear { low, high } => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
            Domain::Log { low, high } => (value.log10() - low) / (high - low),
            Domain::Slots(slots) => (value + 0.5) / slots as f64,
        };
        if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        }
    }
}

fn linear_domain(format: NumberFormat, extent: Extent, bars: bool) -> Domain {
    let (mut low, mut high) = (extent.low, extent.high);
    // An axis begins at zero if that is close, so that lengths can be compared.
    if bars || (low > 0.0 && low <= high * 0.15) {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    // Values that are equal as floats need no space, and no ticks between them.
    let largest = low.abs().max(high.abs());
    let least = (largest * 1e-9).max(if format == NumberFormat::Count {
        1.0
    } else {
        1e-290
    });
    if high - low < least {
        if largest < 1e-290 {
            return Domain::Linear {
                low: 0.0,
                high: 1.0,
            };
        }
        let room = (largest / 2.0).max(least);
        (low, high) = if low >= 0.0 && room > low {
            (0.0, high + room)
        } else {
            (low - room, high + room)
        };
        low = low.max(-f64::MAX);
        high = high.min(f64::MAX);
    }
    let (digit, power) = step(low, high, 10.0, format);
    let size = decimal(digit, power);
    let outward = |count: f64, edge: f64| {
        let place = count * size;
        if place.is_finite() { place } else { edge }
    };
    // Rounding must not move an end inwards, past the data.
    let low = low.min(outward((low / size).floor(), low));
    let high = high.max(outward((high / size).ceil(), high));
    Domain::Linear { low, high }
}

fn log_domain(extent: Extent, bars: bool) -> Domain {
    let (low, high) = (extent.low.log10(), extent.high.log10());
    let room = match high - low {
        // Near the smallest floats there are no ticks between decades, so the axis needs a decade.
        span if low < -290.0 => (span * 0.03).max(1.0),
        span if span < 1e-6 => 0.5,
        span => (span * 0.03).max(0.04),
    };
    let below = if bars { room.max(0.3) } else { room };
    Domain::Log {
        low: low - below,
        high: high + room,
    }
}

/// Returns the step, `digit × 10^exponent` with a digit of 1, 2 or 5, that gives about the
/// requested number of ticks.
fn step(low: f64, high: f64, ticks: f64, format: NumberFormat) -> (i64, i32) {
    let raw = ((high / 2.0 - low / 2.0) / ticks) * 2.0;
    let raw = if raw.is_finite() {
        raw.max(1e-300)
    } else {
        1e307
    };
    let mut power = exponent(raw);
    let mantissa = raw / decimal(1, power);
    let mut digit = match mantissa {
        _ if mantissa <= 1.0 => 1,
        _ if mantissa <= 2.0 => 2,
        _ if mantissa <= 5.0 => 5,
        _ => {
            power += 1;
            1
        }
    };
    if power < 0 && matches!(format, NumberFormat::Count | NumberFormat::Bytes) {
        (digit, power) = (1, 0);
    }
    (digit, power)
}

/// An axis on the page: maps values to coordinates.
#[derive(Clone, Debug)]
pub(crate) struct AxisMap {
    pub(crate) domain: Domain,
    /// The coordinate of the low end.
    pub(crate) from: f64,
    /// The coordinate of the high end.
    pub(crate) to: f64,
}

impl AxisMap {
    pub(crate) fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * self.domain.share(value)
    }

    /// Returns where bars begin: at zero, or at the edge if the axis has no zero.
    pub(crate) fn base(&self) -> f64 {
        match self.domain {
            Domain::Linear { .. } => self.at(0.0),
            Domain::Log { .. } | Domain::Slots(_) => self.from,
        }
    }

    /// Returns the width of one category.
    pub(crate) fn slot(&self) -> Option<f64> {
        match self.domain {
            Domain::Slots(slots) => Some((self.to - self.from).abs() / slots as f64),
            Domain::Linear { .. } | Domain::Log { .. } => None,
        }
    }
}

/// Returns the ticks of an axis of numbers: about the requested number with labels, and minor ones.
pub(crate) fn ticks(domain: &Domain, format: NumberFormat, about: usize) -> Vec<Tick> {
    match *domain {
        Domain::Linear { low, high } => linear_ticks(low, high, format, about),
        Domain::Log { low, high } => log_ticks(low, high, format, about),
        Domain::Slots(_) => Vec::new(),
    }
}

fn linear_ticks(low: f64, high: f64, format: NumberFormat, about: usize) -> Vec<Tick> {
    let (digit, power) = step(low, high, about.max(1) as f64, format);
    let size = decimal(digit, power);
    // Tolerance, because the ends are multiples of the step only up to rounding.
    let (first, last) = ((low / size - 1e-6).ceil(), (high / size + 1e-6).floor());
    let largest = low.abs().max(high.abs());
    let count = if (last - first).is_finite() {
        (last - first).clamp(0.0, 200.0) as i64
    } else {
        0
    };
    if !first.is_finite() || first.abs() > 1e15 {
        return Vec::new();
    }
    (0..=count)
        .map(|index| {
            let value = decimal((first as i64 + index).saturating_mul(digit), power);
            Tick {
                at: value,
                label: linear_tick(format, value, power, largest),
            }
        })
        .collect()
}

fn log_ticks(low: f64, high: f64, format: NumberFormat, about: usize) -> Vec<Tick> {
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let inside = |value: f64| value > 0.0 && (low - 1e-9..=high + 1e-9).contains(&value.log10());
    let mut decades: Vec<i32> = (first..=last)
        .filter(|power| inside(decimal(1, *power)))
        .collect();
    let crowd = decades.len().div_ceil(about.max(1));
    let every = [1, 2, 3, 5, 10, 20, 50, 100, 200]
        .into_iter()
        .find(|every| *every >= crowd)
        .unwrap_or(500);
    // Every second or third decade, counted from 10⁰, which is always labelled.
    let labelled: Vec<i32> = decades
        .iter()
        .copied()
        .filter(|power| power.rem_euclid(every as i32) == 0)
        .collect();
    let (from, to) = (first, decades.last().copied().unwrap_or(last));
    let mut ticks = Vec::new();
    if labelled.len() < 2 {
        decades = (first..=last).collect();
        let all: &[i64] = if decades.len() <= 2 {
            &[1, 2, 3, 4, 5, 6, 7, 8, 9]
        } else {
            &[1, 2, 5]
        };
        for power in decades {
            for digit in all {
                let value = decimal(*digit, power);
                if inside(value) {
                    let label = if [1, 2, 5].contains(digit) {
                        log_tick(format, *digit, power, from, to)
                    } else {
                        String::new()
                    };
                    ticks.push(Tick { at: value, label });
                }
            }
        }
        if ticks.iter().filter(|tick| !tick.label.is_empty()).count() < 2 {
            let (low, high) = (power_of(low), power_of(high));
            ticks = linear_ticks(low, high, format, about);
            ticks.retain(|tick| inside(tick.at));
        }
        return ticks;
    }
    // Minor ticks as far as they are distinguishable: nine per decade, or decades, or none.
    let (between, each) = (decades.len() <= about + 1, decades.len() <= 6 * about);
    for power in first..=last {
        for digit in if between { 1..=9 } else { 1..=1 } {
            let value = decimal(digit, power);
            let is_labelled = digit == 1 && labelled.contains(&power);
            if inside(value) && (is_labelled || each) {
                let label = if is_labelled {
                    log_tick(format, 1, power, from, to)
                } else {
                    String::new()
                };
                ticks.push(Tick { at: value, label });
            }
        }
    }
    ticks
}

fn power_of(exponent: f64) -> f64 {
    10f64.powf(exponent).clamp(f64::MIN_POSITIVE, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_finite() -> impl Strategy<Value = f64> {
        use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
        NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE
    }

    fn labels(domain: &Domain, format: NumberFormat) -> Vec<String> {
        ticks(domain, format, 5)
            .into_iter()
            .map(|tick| tick.label)
            .filter(|label| !label.is_empty())
            .collect()
    }

    #[test]
    fn ticks_stand_at_round_numbers() {
        let domain = linear_domain(
            NumberFormat::Count,
            Extent {
                low: 3.0,
                high: 4_870.0,
            },
            false,
        );
        assert_eq!(
            labels(&domain, NumberFormat::Count),
            ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]
        );
        let domain = linear_domain(
            NumberFormat::Share,
            Extent {
                low: 0.0,
                high: 1.0,
            },
            true,
        );
        assert_eq!(
            labels(&domain, NumberFormat::Share),
            ["0%", "20%", "40%", "60%", "80%", "100%"]
        );
        let domain = log_domain(
            Extent {
                low: 1.0,
                high: 4e6,
            },
            false,
        );
        assert_eq!(
            labels(&domain, NumberFormat::Count),
            ["10⁰", "10²", "10⁴", "10⁶"]
        );
        let domain = log_domain(
            Extent {
                low: 3.0,
                high: 70.0,
            },
            false,
        );
        assert_eq!(
            labels(&domain, NumberFormat::Count),
            ["5", "10", "20", "50"]
        );
    }

    #[test]
    fn decades_are_skipped_by_round_numbers() {
        let domain = log_domain(
            Extent {
                low: 1e-250,
                high: 1e250,
            },
            false,
        );
        let labels = labels(&domain, NumberFormat::Plain);
        assert_eq!(labels, ["10⁻²⁰⁰", "10⁰", "10²⁰⁰"]);
    }

    #[test]
    fn counts_have_no_halves() {
        let domain = linear_domain(
            NumberFormat::Count,
            Extent {
                low: 0.0,
                high: 2.0,
            },
            true,
        );
        assert_eq!(labels(&domain, NumberFormat::Count), ["0", "1", "2"]);
    }

    proptest! {
        #[test]
        fn any_extent_has_a_domain_that_holds_it(a in any_finite(), b in any_finite(), bars: bool) {
            let (low, high) = (a.min(b), a.max(b));
            for format in [NumberFormat::Plain, NumberFormat::Count, NumberFormat::Share, NumberFormat::Bytes] {
                let domain = linear_domain(format, Extent { low, high }, bars);
                let Domain::Linear { low: from, high: to } = domain else { panic!("it is linear") };
                prop_assert!(from < to && from <= low + 1e-290 && to >= high - 1e-290, "{:?}", domain);
                prop_assert!(ticks(&domain, format, 5).len() <= 12, "{:?} {:?}", domain, ticks(&domain, format, 5));
                prop_assert!(ticks(&domain, format, 5).len() >= 2, "{:?}", domain);
                if low > 0.0 {
                    let domain = log_domain(Extent { low, high }, bars);
                    prop_assert!(!ticks(&domain, format, 5).is_empty(), "{:?}", domain);
                }
            }
        }
    }
}
