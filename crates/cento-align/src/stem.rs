//! Word forms that count as one word.

/// The word without the endings that English adds to nouns, verbs and adjectives. Words of other
/// scripts, and short ones, are returned as they are.
///
/// It is cruder than Porter's algorithm and does as well here: two forms have to agree, but the
/// stem does not have to be a word.
pub(crate) fn stem(word: &str) -> &str {
    if word.len() < 4 || !word.is_ascii() {
        return word;
    }
    let word = plural(word);
    let word = [("ing", 6), ("ed", 5), ("ly", 6), ("er", 6), ("ion", 7)]
        .iter()
        .find_map(|&(ending, least)| longer(word, least).and_then(|word| word.strip_suffix(ending)))
        .unwrap_or(word);
    let ending = longer(word, 5).and_then(|word| word.strip_suffix(['e', 'y']));
    ending.unwrap_or(word)
}

fn plural(word: &str) -> &str {
    if let Some(stem) = longer(word, 5).and_then(|word| word.strip_suffix("ies")) {
        return stem;
    }
    if let Some(stem) = longer(word, 6).and_then(|word| word.strip_suffix("es")) {
        return stem;
    }
    match word.strip_suffix('s') {
        Some(stem) if !stem.ends_with(['s', 'u']) => stem,
        _ => word,
    }
}

fn longer(word: &str, least: usize) -> Option<&str> {
    (word.len() >= least).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for forms in [
            &["walk", "walks", "walked", "walking"][..],
            &["country", "countries"],
            &["quick", "quickly", "quicker"],
            &["improve", "improves", "improved", "improving"],
            &["collect", "collection", "collections", "collected"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form}");
            }
        }
    }

    #[test]
    fn short_words_and_other_scripts_are_left_alone() {
        for word in ["is", "gas", "bus", "grass", "überwachen", "слова", "東京"] {
            let expected = if word == "gas" { "gas" } else { word };
            assert_eq!(stem(word), expected);
        }
    }
}
