//! What verdicts say: precision with its interval, and how far two judges agree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::log::{Judgement, JudgingSession};

/// The quantile of the normal distribution for an interval of 95 %.
const QUANTILE: f64 = 1.959_963_984_540_054;

/// The verdicts of one judge, or of all judges, on one list with one setting of parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrecisionRow {
    pub(crate) list: String,
    pub(crate) run: String,
    pub(crate) parameters: Value,
    pub(crate) filter: String,
    /// The judge; none for the majority of all judges.
    pub(crate) judge: Option<String>,
    pub(crate) spam: u64,
    pub(crate) not_spam: u64,
    pub(crate) unsure: u64,
}

impl PrecisionRow {
    /// The share of spam among the items that were decided.
    pub(crate) fn precision(&self) -> Option<f64> {
        let decided = self.spam + self.not_spam;
        (decided > 0).then(|| self.spam as f64 / decided as f64)
    }

    /// The interval of Wilson for the precision, with a confidence of 95 %.
    pub(crate) fn interval(&self) -> Option<[f64; 2]> {
        wilson(self.spam, self.spam + self.not_spam)
    }
}

/// Returns the interval of Wilson for a share of `hits` in `trials`, with a confidence of 95 %.
pub(crate) fn wilson(hits: u64, trials: u64) -> Option<[f64; 2]> {
    if trials == 0 {
        return None;
    }
    let n = trials as f64;
    let share = hits as f64 / n;
    let square = QUANTILE * QUANTILE;
    let centre = (share + square / (2.0 * n)) / (1.0 + square / n);
    let spread =
        QUANTILE / (1.0 + square / n) * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    Some([(centre - spread).max(0.0), (centre + spread).min(1.0)])
}

/// A list, a run and filters: what one precision is about.
type Setting = (String, String, String);
/// The verdicts by judge and key.
type ByJudge = BTreeMap<String, BTreeMap<String, Judgement>>;

fn by_setting(sessions: &[JudgingSession]) -> BTreeMap<Setting, (Value, ByJudge)> {
    let mut settings: BTreeMap<Setting, (Value, ByJudge)> = BTreeMap::new();
    for session in sessions {
        let sample = &session.sample;
        let setting = (
            sample.list.clone(),
            sample.run.clone(),
            sample.filter.clone(),
        );
        let (_, judges) = settings
            .entry(setting)
            .or_insert_with(|| (sample.parameters.clone(), ByJudge::new()));
        for (judge, verdicts) in &session.verdicts {
            let of_judge = judges.entry(judge.clone()).or_default();
            for verdict in verdicts.values() {
                if let Some(item) = sample.items.get(verdict.item as usize) {
                    // An item of two samples counts once, with the later verdict.
                    of_judge.insert(item.key.clone(), verdict.verdict);
                }
            }
        }
    }
    settings
}

/// Returns the precision of each list and setting, by judge, and by the majority if there are
/// several judges.
pub(crate) fn precision(sessions: &[JudgingSession]) -> Vec<PrecisionRow> {
    let mut rows = Vec::new();
    for ((list, run, filter), (parameters, judges)) in by_setting(sessions) {
        let row = |judge: Option<String>, verdicts: &mut dyn Iterator<Item = Judgement>| {
            let mut row = PrecisionRow {
                list: list.clone(),
                run: run.clone(),
                parameters: parameters.clone(),
                filter: filter.clone(),
                judge,
                spam: 0,
                not_spam: 0,
                unsure: 0,
            };
            for verdict in verdicts {
                match verdict {
                    Judgement::Spam => row.spam += 1,
                    Judgement::NotSpam => row.not_spam += 1,
                    Judgement::Unsure => row.unsure += 1,
                }
            }
            row
        };
        for (judge, verdicts) in judges.iter().filter(|(_, verdicts)| !verdicts.is_empty()) {
            rows.push(row(Some(judge.clone()), &mut verdicts.values().copied()));
        }
        if judges.len() > 1 {
            let keys: BTreeSet<&String> = judges.values().flat_map(BTreeMap::keys).collect();
            let mut majorities = keys.into_iter().map(|key| majority(&judges, key));
            rows.push(row(None, &mut majorities));
        }
    }
    rows
}

/// What most judges of a session say about an item; a tie is unsure. None if nobody judged it.
pub(crate) fn majority_of(session: &JudgingSession, item: u32) -> Option<Judgement> {
    let judges = session.verdicts.values();
    let mut verdicts = judges
        .filter_map(|verdicts| verdicts.get(&item))
        .map(|verdict| verdict.verdict)
        .peekable();
    verdicts.peek()?;
    Some(most(verdicts))
}

/// What most judges say about a key; a tie is unsure.
fn majority(judges: &ByJudge, key: &str) -> Judgement {
    most(
        judges
            .values()
            .filter_map(|verdicts| verdicts.get(key).copied()),
    )
}

fn most(verdicts: impl Iterator<Item = Judgement>) -> Judgement {
    let (mut spam, mut not_spam, mut unsure) = (0, 0, 0);
    for verdict in verdicts {
        match verdict {
            Judgement::Spam => spam += 1,
            Judgement::NotSpam => not_spam += 1,
            Judgement::Unsure => unsure += 1,
        }
    }
    match () {
        () if spam > not_spam && spam > unsure => Judgement::Spam,
        () if not_spam > spam && not_spam > unsure => Judgement::NotSpam,
        () => Judgement::Unsure,
    }
}

/// How far two judges agree on the items of a list that both judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgeAgreement {
    pub(crate) list: String,
    pub(crate) run: String,
    /// The filters of the sampled list.
    pub(crate) filter: String,
    pub(crate) judges: [String; 2],
    /// Items that both judged.
    pub(crate) items: u64,
    /// Items on which they gave the same verdict.
    pub(crate) same: u64,
    /// Cohen's kappa; none if it is undefined, because both gave one verdict only.
    pub(crate) kappa: Option<f64>,
}

/// Returns the agreement of each pair of judges.
pub(crate) fn agreement(sessions: &[JudgingSession]) -> Vec<JudgeAgreement> {
    let mut found = Vec::new();
    for ((list, run, filter), (_, judges)) in by_setting(sessions) {
        for (at, (one, of_one)) in judges.iter().enumerate() {
            for (other, of_other) in judges.iter().skip(at + 1) {
                let both: Vec<(Judgement, Judgement)> = of_one
                    .iter()
                    .filter_map(|(key, verdict)| Some((*verdict, *of_other.get(key)?)))
                    .collect();
                if both.is_empty() {
                    continue;
                }
                found.push(JudgeAgreement {
                    list: list.clone(),
                    run: run.clone(),
                    filter: filter.clone(),
                    judges: [one.clone(), other.clone()],
                    items: both.len() as u64,
                    same: both.iter().filter(|(one, other)| one == other).count() as u64,
                    kappa: kappa(&both),
                });
            }
        }
    }
    found
}

/// Cohen's kappa: how much more often two judges agree than they would by chance.
fn kappa(both: &[(Judgement, Judgement)]) -> Option<f64> {
    let n = both.len() as f64;
    let share = |count: usize| count as f64 / n;
    let observed = share(both.iter().filter(|(one, other)| one == other).count());
    let expected: f64 = Judgement::ALL
        .iter()
        .map(|verdict| {
            let one = both.iter().filter(|(one, _)| one == verdict).count();
            let other = both.iter().filter(|(_, other)| other == verdict).count();
            share(one) * share(other)
        })
        .sum();
    (expected < 1.0).then(|| (observed - expected) / (1.0 - expected))
}

/// The statistics as JSON.
pub(crate) fn json(sessions: &[JudgingSession]) -> Value {
    let precision = precision(sessions).into_iter().map(|row| {
        json!({
            "list": row.list,
            "run": row.run,
            "parameters": row.parameters,
            "filter": row.filter,
            "judge": row.judge,
            "spam": row.spam,
            "not_spam": row.not_spam,
            "unsure": row.unsure,
            "precision": row.precision(),
            "interval": row.interval(),
        })
    });
    let agreement = agreement(sessions).into_iter().map(|pair| {
        json!({
            "list": pair.list,
            "run": pair.run,
            "filter": pair.filter,
            "judges": pair.judges,
            "items": pair.items,
            "same": pair.same,
            "kappa": pair.kappa,
        })
    });
    json!({
        "precision": precision.collect::<Vec<_>>(),
        "agreement": agreement.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_wilson() {
        // Values of `scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`.
        for (hits, trials, low, high) in [
            (8, 10, 0.490_162_471_536_642_3, 0.943_317_848_545_625),
            (0, 10, 0.0, 0.277_532_799_862_889_23),
            (50, 50, 0.928_652_400_867_649_2, 1.0),
        ] {
            let [least, most] = wilson(hits, trials).unwrap();
            assert!((least - low).abs() < 1e-9, "{least} {low}");
            assert!((most - high).abs() < 1e-9, "{most} {high}");
        }
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn kappa_is_that_of_cohen() {
        use Judgement::{NotSpam, Spam};
        // The example of the Wikipedia article: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no.
        let mut both = vec![(Spam, Spam); 20];
        both.extend(vec![(Spam, NotSpam); 5]);
        both.extend(vec![(NotSpam, Spam); 10]);
        both.extend(vec![(NotSpam, NotSpam); 15]);
        assert!((kappa(&both).unwrap() - 0.4).abs() < 1e-12);
        assert_eq!(kappa(&[(Spam, Spam)]), None);
    }
}
