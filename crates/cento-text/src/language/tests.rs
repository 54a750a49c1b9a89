//! Sentences in many languages.

use proptest::prelude::*;

use super::*;

#[test]
fn ordinary_sentences_are_identified() {
    for (language, text) in [
        (
            "en",
            "When you install the package, the system asks whether the server should be started at boot, and which port it listens on.",
        ),
        (
            "de",
            "Wenn das Paket installiert wird, fragt das System, ob der Dienst beim Start geladen werden soll und auf welchem Port er lauscht.",
        ),
        (
            "fr",
            "Lors de l'installation du paquet, le système demande si le service doit être lancé au démarrage et sur quel port il écoute.",
        ),
        (
            "es",
            "Cuando se instala el paquete, el sistema pregunta si el servicio debe iniciarse al arrancar y en qué puerto escucha.",
        ),
        (
            "pt",
            "Quando o pacote é instalado, o sistema pergunta se o serviço deve ser iniciado com o computador e em que porta ele escuta.",
        ),
        (
            "it",
            "Quando il pacchetto viene installato, il sistema chiede se il servizio deve essere avviato e su quale porta si mette in ascolto.",
        ),
        (
            "nl",
            "Wanneer het pakket wordt geïnstalleerd, vraagt het systeem of de dienst bij het opstarten moet worden geladen en op welke poort.",
        ),
        (
            "sv",
            "När paketet installeras frågar systemet om tjänsten ska startas när datorn startar, och vilken port den ska lyssna på.",
        ),
        (
            "pl",
            "Podczas instalacji pakietu system pyta, czy usługa ma być uruchamiana przy starcie oraz na jakim porcie ma nasłuchiwać.",
        ),
        (
            "ru",
            "При установке пакета система спрашивает, следует ли запускать службу при загрузке и какой порт она будет слушать.",
        ),
        (
            "uk",
            "Під час встановлення пакунка система питає, чи слід запускати службу під час завантаження і який порт вона слухатиме.",
        ),
        (
            "el",
            "Κατά την εγκατάσταση του πακέτου το σύστημα ρωτά αν η υπηρεσία πρέπει να ξεκινά.",
        ),
        (
            "ar",
            "عند تثبيت الحزمة يسأل النظام عما إذا كان يجب تشغيل الخدمة عند الإقلاع وعلى أي منفذ يجب أن تستمع إلى الاتصالات الواردة.",
        ),
        (
            "he",
            "בעת התקנת החבילה המערכת שואלת האם יש להפעיל את השירות בעת האתחול ועל איזה פורט עליו להאזין לחיבורים נכנסים.",
        ),
        (
            "hi",
            "पैकेज स्थापित करते समय प्रणाली पूछती है कि क्या सेवा को शुरू किया जाना चाहिए और वह किस पोर्ट पर सुनेगी।",
        ),
        ("th", "เมื่อติดตั้งแพ็กเกจ ระบบจะถามว่าควรเริ่มบริการเมื่อเปิดเครื่องหรือไม่"),
        (
            "ja",
            "パッケージをインストールすると、起動時にサービスを開始するかどうかをシステムが尋ねます。",
        ),
        (
            "zh",
            "安装软件包时，系统会询问是否应在启动时运行该服务以及它应监听哪个端口。",
        ),
        (
            "ko",
            "패키지를 설치하면 시스템이 부팅할 때 서비스를 시작할지 묻습니다.",
        ),
        ("ta", "தொகுப்பை நிறுவும் போது கணினி கேட்கும்"),
    ] {
        assert_eq!(detect(text), Some(language), "{text}");
        // Longer text is sampled, which must not change the result.
        assert_eq!(
            detect(&format!("{text} ").repeat(40)),
            Some(language),
            "{text}"
        );
    }
}

#[test]
fn names_and_commands_in_latin_letters_do_not_mislead() {
    let text = "apt-get install postgresql を実行すると、パッケージがインストールされます。/etc/postgresql を編集してください。";
    assert_eq!(detect(text), Some("ja"));
}

#[test]
fn an_ambiguous_text_has_no_language() {
    for text in [
        "",
        "42",
        "foo",
        "0x7f 3.14 … !!!",
        "Xqz kjhwv zzxq wqkj vbnm xcvz qwrt plkj hgfd zxcv",
    ] {
        assert_eq!(detect(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_accepted(text in "\\PC{0,60}", repeats in 1usize..30) {
        if let Some(language) = detect(&text.repeat(repeats)) {
            prop_assert!(matches!(language.len(), 2 | 3));
        }
    }
}

#[test]
fn detection_time_does_not_depend_on_the_length() {
    let begin = std::time::Instant::now();
    for text in [
        "1 ".repeat(1 << 22),
        "x".repeat(1 << 23),
        "é ".repeat(1 << 21),
    ] {
        detect(&text);
    }
    assert!(begin.elapsed().as_secs() < 10);
}
