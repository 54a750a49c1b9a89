//! Compares the fast scanner with a direct implementation of the definition; words of many
//! languages.

use icu_properties::props::{GeneralCategory, GeneralCategoryGroup, Script};
use icu_properties::script::ScriptWithExtensions;
use icu_properties::{CodePointMapData, CodePointSetData, props::DefaultIgnorableCodePoint};
use icu_segmenter::WordSegmenter;
use proptest::prelude::*;

use super::*;

const SCRIPTS: [Script; 7] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
];

fn group(character: char, group: GeneralCategoryGroup) -> bool {
    group.contains(CodePointMapData::<GeneralCategory>::new().get(character))
}

fn of_a_word(character: char) -> bool {
    group(character, GeneralCategoryGroup::Letter)
        || group(character, GeneralCategoryGroup::Mark)
        || group(character, GeneralCategoryGroup::Number)
}

fn ignorable(character: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(character)
}

/// Whether the character belongs to a script without spaces. A mark inherits this from its
/// predecessor, `before`.
fn spaceless(character: char, before: bool) -> bool {
    let scripts = ScriptWithExtensions::new();
    if SCRIPTS.contains(&scripts.get_script_val(character)) {
        true
    } else if group(character, GeneralCategoryGroup::Mark) {
        before
    } else {
        let shared =
            [Script::Common, Script::Inherited].contains(&scripts.get_script_val(character));
        let with = |script: Script| scripts.has_script(character, script);
        let others = || scripts.get_script_extensions_val(character).iter();
        shared
            && SCRIPTS.iter().any(|&script| with(script))
            && others().all(|script| SCRIPTS.contains(&script))
    }
}

/// Words by definition.
fn naive(text: &str) -> Vec<(Range<usize>, String)> {
    let visible: Vec<(usize, char)> = text
        .char_indices()
        .filter(|&(_, character)| !ignorable(character))
        .collect();
    let mut words = Vec::new();
    for run in visible.split(|&(_, character)| !of_a_word(character)) {
        let mut before = false;
        let kinds: Vec<bool> = run
            .iter()
            .map(|&(_, character)| {
                before = spaceless(character, before);
                before
            })
            .collect();
        let numbered: Vec<(bool, (usize, char))> =
            kinds.into_iter().zip(run.iter().copied()).collect();
        for part in numbered.chunk_by(|one, other| one.0 == other.0) {
            let characters: String = part.iter().map(|&(_, (_, character))| character).collect();
            let breaks: Vec<usize> = if part[0].0 {
                WordSegmenter::new_dictionary(Default::default())
                    .segment_str(&characters)
                    .collect()
            } else {
                vec![0, characters.len()]
            };
            for pair in breaks.windows(2) {
                let within: Vec<(usize, char)> = characters
                    .char_indices()
                    .zip(part)
                    .filter(|((offset, _), _)| (pair[0]..pair[1]).contains(offset))
                    .map(|(_, &(_, positioned))| positioned)
                    .collect();
                let (last, character) = *within.last().unwrap();
                let range = within[0].0..last + character.len_utf8();
                words.push((range, normal_form(&characters[pair[0]..pair[1]])));
            }
        }
    }
    words
}

fn normal_form(word: &str) -> String {
    let compose = icu_normalizer::ComposingNormalizer::new_nfkc();
    let fold = icu_casemap::CaseMapper::new();
    let composed = compose.normalize(word).into_owned();
    let folded = fold.fold_string(&composed).into_owned();
    let normal = compose.normalize(&folded).into_owned();
    normal
        .chars()
        .filter(|&character| of_a_word(character) && !ignorable(character))
        .collect()
}

fn normals(text: &str) -> Vec<String> {
    words(text).into_iter().map(|(_, normal)| normal).collect()
}

fn unpacked(key: WordKey<'_>) -> String {
    match key {
        WordKey::Normal(normal) => normal.to_owned(),
        WordKey::Packed(halves) => {
            let bytes = halves.map(u64::to_le_bytes).concat();
            let text = String::from_utf8(bytes).unwrap();
            text.trim_end_matches('\0').to_owned()
        }
    }
}

fn assert_as_defined(text: &str) {
    let found = words(text);
    assert_eq!(found, naive(text), "{text:?}");
    assert_eq!(count_words(text), found.len(), "{text:?}");
    let mut ranges = Vec::new();
    for_each_word_range(text, |range| ranges.push(range));
    let mut keys = Vec::new();
    let mut key_ranges = Vec::new();
    WordScanner::new().scan_ranged_keys(text, |range, key| {
        keys.push(unpacked(key));
        key_ranges.push(range);
    });
    assert_eq!(key_ranges, ranges, "{text:?}");
    let expected: Vec<&String> = found.iter().map(|(_, normal)| normal).collect();
    assert_eq!(keys.iter().collect::<Vec<_>>(), expected, "{text:?}");
    let expected: Vec<Range<usize>> = found.iter().map(|(range, _)| range.clone()).collect();
    assert_eq!(ranges, expected, "{text:?}");
    // Words and gaps add up to the text.
    let mut rebuilt = String::new();
    let mut end = 0;
    for range in ranges {
        assert!(end <= range.start && range.start < range.end);
        rebuilt.push_str(&text[end..range.start]);
        rebuilt.push_str(&text[range.clone()]);
        end = range.end;
    }
    rebuilt.push_str(&text[end..]);
    assert_eq!(rebuilt, text);
}

/// Characters that interact with their neighbours, mixed with random ones.
fn interacting() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::sample::select(" .,-_'\n\t09azAZéßİıǅΣςБёﬁ½Ⅷ²".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("\u{ad}\u{200b}\u{200d}\u{feff}\u{fe0f}\u{34f}\u{180e}\u{115f}\u{3164}".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("\u{301}\u{308}\u{323}\u{327}\u{345}\u{5b0}\u{64b}\u{651}\u{654}\u{93c}\u{94d}\u{3099}\u{309a}\u{20e3}\u{316}".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("中文书读かカーｶﾞ々ไทยำ้ລາວខ្មែរမြန်မာ๓၁〇㈠".chars().collect::<Vec<_>>()),
        1 => prop::sample::select("ابـהन한한😀👍🏽𝔘𐐀\u{2f800}\u{fdfa}\u{1e9b}\u{1fb7}\u{390}".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop::collection::vec(character, 0..40).prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #[test]
    fn the_scanner_agrees_with_the_definition(text in interacting()) {
        assert_as_defined(&text);
    }

    #[test]
    fn ascii_words_are_found_across_block_and_window_boundaries(
        text in "([a-zA-Z0-9]{0,9}[ .,]{1,2}){0,60}", shift in 0usize..2200
    ) {
        assert_as_defined(&("x".repeat(shift) + " " + &text));
        assert_as_defined(&(" ".repeat(shift) + &text + "é" + &text));
    }

    #[test]
    fn invisible_characters_do_not_change_normal_forms(text in interacting()) {
        let visible: String = text.chars().filter(|&character| !ignorable(character)).collect();
        prop_assert_eq!(normals(&text), normals(&visible));
    }
}

/// Regression test: U+02BC, the Ukrainian apostrophe, split words because its script extensions
/// include Thai.
#[test]
fn a_letter_shared_with_thai_does_not_split_a_ukrainian_word() {
    assert_eq!(
        normals("п\u{2bc}ять об\u{2bc}єкт"),
        ["п\u{2bc}ять", "об\u{2bc}єкт"]
    );
    // Letters shared only among scripts without spaces, such as the long vowel mark, are split by
    // the dictionary.
    assert_eq!(normals("コーヒー"), ["コーヒー"]);
}

/// Enumerates all of Unicode, so that a new version of ICU's data is checked as well.
#[test]
fn no_letter_or_mark_shared_with_a_script_with_spaces_splits_a_word() {
    let scripts = ScriptWithExtensions::new();
    let (mut checked, mut shared, mut spaceless) = (0, 0, 0);
    for character in '\u{80}'..=char::MAX {
        if !of_a_word(character) || ignorable(character) {
            continue;
        }
        let is_number = group(character, GeneralCategoryGroup::Number);
        let extensions = || scripts.get_script_extensions_val(character).iter();
        if extensions().all(|script| SCRIPTS.contains(&script)) {
            let is_mark = group(character, GeneralCategoryGroup::Mark);
            let is_common = !SCRIPTS.contains(&scripts.get_script_val(character));
            spaceless += usize::from(is_common && !is_mark);
            continue;
        }
        // The digits of Myanmar are shared with Chakma and Tai Le, but their script is Myanmar.
        if is_number && SCRIPTS.contains(&scripts.get_script_val(character)) {
            continue;
        }
        checked += 1;
        let word = format!("ab{character}cd");
        assert_eq!(words(&word).len(), 1, "{word} ({character:?})");
        assert_eq!(count_words(&word), 1, "{word} ({character:?})");
        if extensions().any(|script| SCRIPTS.contains(&script)) {
            shared += 1;
            // UAX #29 agrees: one boundary at each end.
            let segmenter = WordSegmenter::new_dictionary(Default::default());
            assert_eq!(segmenter.segment_str(&word).count(), 2, "{character:?}");
        }
    }
    assert!(checked > 40_000, "{checked}");
    // U+02BC and eight marks (U+0303, U+0305, U+0323, U+0331, U+302A to U+302D).
    assert_eq!(shared, 9);
    // Common characters of Han and kana alone, such as `ー` and `㈠`. They are separated from Latin
    // text like all characters of these scripts. UAX #29 agrees on 50 of them.
    assert_eq!(spaceless, 53);
}

#[test]
fn chinese_is_split_by_the_dictionary() {
    assert_eq!(
        normals("我们在北京大学学习计算机科学，第３章共12页。"),
        [
            "我们", "在", "北京", "大学", "学习", "计算", "机", "科学", "第", "3", "章", "共",
            "12", "页"
        ]
    );
    assert_eq!(normals("iPhone手机"), ["iphone", "手机"]);
}

#[test]
fn japanese_is_split_by_the_dictionary() {
    assert_eq!(
        normals("日本語の文章を単語に分割するのは難しい。コンピューター"),
        [
            "日本語",
            "の",
            "文章",
            "を",
            "単語",
            "に",
            "分割",
            "する",
            "の",
            "は",
            "難しい",
            "コンピューター"
        ]
    );
    // Half-width letters and combining voiced sound marks are equivalent encodings.
    assert_eq!(normals("ﾊﾝｶｸ"), normals("ハンカク"));
    assert_eq!(normals("カ\u{3099}ラス"), ["ガラス"]);
}

#[test]
fn thai_lao_khmer_and_burmese_are_split_by_the_dictionary() {
    let text = "ภาษาไทยเขียนไม่เว้นวรรคระหว่างคำ";
    let found: Vec<&str> = words(text)
        .into_iter()
        .map(|(range, _)| &text[range])
        .collect();
    assert_eq!(
        found,
        ["ภาษา", "ไทย", "เขียน", "ไม่", "เว้น", "วรรค", "ระหว่าง", "คำ"]
    );
    assert_eq!(normals("๒๕๖๗ ปี"), ["๒๕๖๗", "ปี"]);
    assert_eq!(normals("ພາສາລາວ"), ["ພາສາ", "ລາວ"]);
    assert_eq!(normals("ភាសាខ្មែរភាសាខ្មែរ"), ["ភាសាខ្មែរ", "ភាសាខ្មែរ"]);
    assert_eq!(normals("မြန်မာစာ"), ["မြန်မာ", "စာ"]);
}

#[test]
fn arabic_diacritics_and_tatweel_are_kept() {
    assert_eq!(
        normals("السَّلَامُ عَلَيْكُم، كتـــاب"),
        ["السَّلَامُ", "عَلَيْكُم", "كتـــاب"]
    );
    // Presentation forms and ligatures are equal to the plain letters.
    assert_eq!(normals("\u{fedb}\u{fe98}\u{fe8e}\u{fe8f}"), ["كتاب"]);
    assert_eq!(normals("\u{fefb}"), ["لا"]);
    // The order of marks does not matter.
    assert_eq!(normals("سّ\u{64e}"), normals("س\u{64e}\u{651}"));
}

#[test]
fn german_sharp_s_equals_double_s() {
    for text in ["Straße", "STRASSE", "STRAẞE", "strasse"] {
        assert_eq!(normals(text), ["strasse"]);
    }
}

#[test]
fn turkish_letters_are_folded_without_language_rules() {
    assert_eq!(
        normals("İstanbul ISPARTA ısparta"),
        ["i\u{307}stanbul", "isparta", "ısparta"]
    );
}

#[test]
fn composed_and_decomposed_letters_are_equal() {
    for (composed, decomposed) in [
        ("é", "e\u{301}"),
        ("Ångström", "A\u{30a}ngstro\u{308}m"),
        ("đường phố", "đươ\u{300}ng phô\u{301}"),
        (
            "한국어",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}",
        ),
        ("ᾴ", "α\u{345}\u{301}"),
    ] {
        assert_eq!(normals(composed), normals(decomposed), "{composed}");
    }
}

#[test]
fn soft_hyphens_and_zero_width_characters_are_ignored() {
    for text in [
        "Silbentrennung",
        "Sil\u{ad}ben\u{ad}tren\u{ad}nung",
        "Silben\u{200b}trennung",
        "Silben\u{200c}\u{200d}trennung",
        "\u{feff}Silbentrennung\u{ad}",
    ] {
        assert_eq!(normals(text), ["silbentrennung"]);
    }
    assert_eq!(words("\u{ad}a\u{ad}b\u{ad}"), [(2..6, "ab".to_owned())]);
    assert_eq!(normals("می\u{200c}خواهم"), ["میخواهم"]);
    // Zero-width spaces between Khmer words are optional.
    assert_eq!(normals("ភាសា\u{200b}ខ្មែរ"), normals("ភាសាខ្មែរ"));
    assert_eq!(words("中\u{200b}\u{200b}"), [(0..3, "中".to_owned())]);
    assert_eq!(words("北\u{200b}京"), [(0..9, "北京".to_owned())]);
}

#[test]
fn emoji_are_not_words() {
    assert_eq!(normals("👨‍👩‍👧‍👦 hi👍🏽there ❤️ 🇩🇪"), ["hi", "there"]);
}

#[test]
fn right_to_left_text_is_in_reading_order() {
    assert_eq!(
        normals("\u{202b}שלום עולם\u{202c} English"),
        ["שלום", "עולם", "english"]
    );
}

#[test]
fn numbers_symbols_and_ligatures_are_replaced_by_what_they_represent() {
    assert_eq!(
        normals("x² ½ Ⅷ ﬁne ⑴ ª 3.14 don't foo_bar"),
        [
            "x2", "12", "viii", "fine", "1", "a", "3", "14", "don", "t", "foo", "bar"
        ]
    );
    assert_eq!(normals("ﷺ"), ["صلىاللهعليهوسلم"]);
}

#[test]
fn text_of_separators_has_no_words() {
    for text in ["", " ", "\u{ad}", "…—!", "\u{200b}\u{200b}", "😀", "\0"] {
        assert_eq!(words(text), [], "{text:?}");
        assert_eq!(count_words(text), 0, "{text:?}");
    }
}

#[test]
fn long_runs_without_spaces_are_split_the_same_in_pieces_as_whole() {
    let chinese = "我们在北京大学学习计算机科学因为很有意思".repeat(150);
    assert_as_defined(&chinese);
    assert_as_defined(&("x".to_owned() + &"ภาษาไทยเขียนไม่เว้นวรรคระหว่างคำ".repeat(100)));
    assert_as_defined(&"コンピューター".repeat(700));
    assert_as_defined(&"中\u{200b}文".repeat(1000));
    assert_as_defined(&("が".to_owned() + &"\u{3099}".repeat(6000) + "ん中文"));
}

#[test]
fn hostile_text_takes_linear_time() {
    let begin = std::time::Instant::now();
    for text in [
        "a".repeat(1 << 20),
        "é".repeat(1 << 19),
        "ア".repeat(1 << 18),
        "ก".repeat(1 << 18),
        "中".repeat(1 << 18),
        "\u{301}".repeat(1 << 18),
        "中".to_owned() + &"\u{3099}".repeat(1 << 18),
        "\u{200b}".repeat(1 << 18),
        "中\u{200b}".repeat(1 << 17),
        "\u{fdfa}".repeat(1 << 14),
        "a\u{301}\u{323}".repeat(1 << 16),
    ] {
        let mut bytes = 0;
        for_each_word(&text, |word| bytes += word.range.len());
        assert!(bytes <= text.len());
        assert_eq!(words(&text).len(), count_words(&text));
    }
    // The limit is generous because debug builds run in parallel; quadratic time would take hours.
    assert!(begin.elapsed().as_secs() < 60);
}
