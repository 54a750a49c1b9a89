//! Function words: the articles, prepositions and pronouns that occur in all running text.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Frequent function words of each language that is common on the web and shares its script with
/// others. A word shared by several languages counts for each of them and does not discriminate
/// between them.
const FUNCTION_WORDS: [(&str, &str); 26] = [
    (
        "en",
        "the of and to in is that for with are this be on as you or from by not it can which will an have if your may \
         at was has its all but they we",
    ),
    (
        "de",
        "der die und das ist nicht mit sie den von zu ein eine auf für dem des im werden auch wird sich oder es als \
         wenn kann bei einer durch aus nur dass zum zur",
    ),
    (
        "fr",
        "le la les des et est une un pour dans que qui pas vous sur avec ce du par il sont au ou plus cette être aux \
         en de ne se son peut comme",
    ),
    (
        "es",
        "el la los las de que en un una por con para es se del no su al lo como más este pero si puede está son \
         también ser sobre y o",
    ),
    (
        "pt",
        "os de que do da em um uma para não com por no na se as dos mais como ao pode ou ser você são também este \
         esta pelo à é o",
    ),
    (
        "it",
        "il di che la per un una non è del in si con sono della da le gli dei come può nel questo anche più alla \
         questa essere ma lo al i o",
    ),
    (
        "nl",
        "de het een van en is dat niet op te in zijn voor met die als aan ook worden wordt er om naar deze bij kan \
         door of maar dit uit u",
    ),
    (
        "sv",
        "och att det som en är av för inte på med till den ett om du kan har eller de från var när så men detta finns \
         vid i",
    ),
    (
        "da",
        "og at det en er af for ikke på med til den et om kan har eller de fra som der du vil når men også hvis denne \
         ved blev efter kun meget nogle bliver skal hvor blive op ud sig dig ind uden hvad nu brug bruge dit så i",
    ),
    (
        "nb",
        "og at det en er av for ikke på med til den et om kan har eller de fra som der du vil når men også hvis denne \
         ved ble etter bare mye noen blir skal hvor bli opp ut seg deg inn uten hva nå bruk bruke ditt så i",
    ),
    (
        "fi",
        "ja on ei että se joka voi ovat tai kun olla myös mutta sen jos ole voidaan niin sitä kuin hän oli tämä jotka \
         ne",
    ),
    (
        "pl",
        "na nie się do to jest że jak po od dla za przez są lub przy oraz jego tym może być który tak ale czy jako te \
         i w z o",
    ),
    (
        "cs",
        "na se je že do to pro jsou jako by ale po nebo které který tak být pokud lze ve pomocí ze si od v s z o i k \
         u není při jen má bude však což můžete pak",
    ),
    (
        "ro",
        "și de în la cu este pe nu pentru care din că un sau mai fi se prin acest sunt al ale dacă poate fost lui \
         cele o",
    ),
    (
        "tr",
        "ve bir bu için ile de da olarak olan daha gibi en çok değil veya kadar sonra her ise var ne ya mi bunu \
         tarafından o",
    ),
    (
        "hu",
        "az és hogy nem is egy ez de meg van vagy csak mint ha el már kell lehet ezt ki be azt volt még amely lesz s",
    ),
    (
        "ca",
        "el la els les de que en un una per amb és no del al si com més aquest pot són dels es aquesta ha seu també i \
         o",
    ),
    (
        "hr",
        "je na se da za od su koji ili ne to kao što biti može sa iz koje nije ako te po bi koja ali i u s",
    ),
    (
        "id",
        "yang dan di untuk dengan dari ini pada tidak dalam adalah anda akan ke dapat atau itu oleh sebagai juga bisa \
         karena ada telah",
    ),
    (
        "vi",
        "và của là có các được cho không trong một với để những này bạn hoặc khi từ người đã như vào đến thì ra nó",
    ),
    (
        "ru",
        "и в не на что с по это как для из к от то или при если только может также его был она он они будет все но \
         так ли какой который",
    ),
    (
        "uk",
        "і в не на що з до та як для або від це за при якщо може також його був під час який чи у але ви вона буде",
    ),
    (
        "bg",
        "и в не на да се от за с е по или като при може са това ако ще който което но тази във със",
    ),
    (
        "sr",
        "и у је на се да за од су са који или не као што може из то али које није ако би",
    ),
    (
        "mk",
        "и во на да се за од со е не или како што може ова ако кој која ќе но ги",
    ),
    (
        "be",
        "і ў не на што з да як для або ад гэта за пры калі можа таксама у які але яго",
    ),
];

/// The languages of each function word, as bits in the order of [`FUNCTION_WORDS`].
static LANGUAGES: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut languages = HashMap::new();
    for (number, (_, words)) in FUNCTION_WORDS.iter().enumerate() {
        for word in words.split(' ') {
            *languages.entry(word).or_insert(0) |= 1 << number;
        }
    }
    languages
});

/// Returns the language whose function words stand out in `letters`, if any.
pub(super) fn language(letters: &str) -> Option<&'static str> {
    let mut counts = [0u32; FUNCTION_WORDS.len()];
    let mut words = 0;
    let mut found = Vec::with_capacity(64);
    // Single letters from a to f are more often section numbers than words.
    let numbers = |word: &str| matches!(word.as_bytes(), [b'a'..=b'f']);
    for word in letters
        .split_ascii_whitespace()
        .filter(|word| !numbers(word))
    {
        words += 1;
        if let Some(&languages) = LANGUAGES.get(word) {
            found.push(languages);
            for (number, count) in counts.iter_mut().enumerate() {
                *count += languages >> number & 1;
            }
        }
    }
    let (best, &count) = counts.iter().enumerate().max_by_key(|(_, count)| **count)?;
    if count < 5 || count * 8 < words {
        return None;
    }
    // Two languages are compared by the words that only one of them has.
    let clear = (0..FUNCTION_WORDS.len())
        .filter(|&other| other != best)
        .all(|other| {
            let alone = |one: usize, two: usize| {
                let both = |languages: &&u32| (**languages >> one & 1, **languages >> two & 1);
                found
                    .iter()
                    .filter(|languages| both(languages) == (1, 0))
                    .count()
            };
            alone(best, other) >= 3.max(2 * alone(other, best))
        });
    clear.then(|| FUNCTION_WORDS[best].0)
}
