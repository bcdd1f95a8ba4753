<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>it is no plain file</source>
        <translation>es ist keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>it is longer than {most:,} bytes</source>
        <translation>sie ist länger als {most:,} Bytes</translation>
    </message>
    <message>
        <source>No space left on device</source>
        <translation>kein Platz mehr auf dem Datenträger</translation>
    </message>
    <message>
        <source>Disk quota exceeded</source>
        <translation>Ihr Anteil am Speicherplatz ist erschöpft</translation>
    </message>
    <message>
        <source>File too large</source>
        <translation>die Datei würde zu groß</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>der Datenträger kann nur gelesen werden</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>keine Berechtigung</translation>
    </message>
    <message>
        <source>Operation not permitted</source>
        <translation>nicht erlaubt</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>Datei oder Ordner nicht gefunden</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>es ist ein Ordner</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>es ist kein Ordner</translation>
    </message>
    <message>
        <source>File name too long</source>
        <translation>der Dateiname ist zu lang</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>Fehler beim Lesen oder Schreiben</translation>
    </message>
    <message>
        <source>Device or resource busy</source>
        <translation>es wird gerade verwendet</translation>
    </message>
    <message>
        <source>Connection refused</source>
        <translation>Verbindung abgelehnt</translation>
    </message>
    <message>
        <source>Connection reset by peer</source>
        <translation>die Gegenstelle hat die Verbindung getrennt</translation>
    </message>
    <message>
        <source>Network is unreachable</source>
        <translation>kein Netzwerk erreichbar</translation>
    </message>
    <message>
        <source>No route to host</source>
        <translation>kein Weg zu diesem Computer</translation>
    </message>
    <message>
        <source>Address already in use</source>
        <translation>der Anschluss ist schon belegt</translation>
    </message>
    <message>
        <source>name not found</source>
        <translation>Name nicht gefunden</translation>
    </message>
    <message>
        <source>Fetching {name}: {done:.2f} of {total:.2f} GB</source>
        <translation>{name} wird heruntergeladen: {done:.2f} von {total:.2f} GB</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>Getting ready</source>
        <translation>Wird vorbereitet</translation>
    </message>
    <message>
        <source>whole on {device}</source>
        <translation>in voller Genauigkeit auf {device}</translation>
    </message>
    <message>
        <source>whole in {dtype} on {device}</source>
        <translation>in voller Genauigkeit ({dtype}) auf {device}</translation>
    </message>
    <message>
        <source>in 4 bits on {device}</source>
        <translation>in 4 Bit auf {device}</translation>
    </message>
    <message>
        <source>in 8 bits on {device}</source>
        <translation>in 8 Bit auf {device}</translation>
    </message>
    <message>
        <source>needs {size} {kept}</source>
        <translation>braucht {size} {kept}</translation>
    </message>
    <message>
        <source>needs {size} {kept}, {free} free</source>
        <translation>braucht {size} {kept}, {free} sind frei</translation>
    </message>
    <message>
        <source>{shortage} and ran out of it</source>
        <translation>{shortage}, und das reichte nicht</translation>
    </message>
    <message>
        <source>{reasons}; it {reason}</source>
        <translation>{reasons}; es {reason}</translation>
    </message>
    <message>
        <source>the model {reasons}: it was loaded {kept} ({size})</source>
        <translation>das Modell {reasons}: Es wurde {kept} geladen ({size})</translation>
    </message>
    <message>
        <source>{model} was not trained for slots: that is an experiment, and captions are better with --system retranslate, or with an adapter</source>
        <translation>{model} wurde nicht für Slots trainiert: Das ist ein Versuch, und die Untertitel sind mit --system retranslate oder mit einem Adapter besser</translation>
    </message>
    <message>
        <source>{model} translates everything again at each word and shows what two drafts agree on; with an adapter for slots captions come sooner, and cost a fraction of the computing</source>
        <translation>{model} übersetzt bei jedem Wort alles neu und zeigt, worin zwei Entwürfe übereinstimmen; mit einem Adapter für Slots kommen Untertitel früher und brauchen einen Bruchteil der Rechenzeit</translation>
    </message>
    <message>
        <source>the adapter in {folder} is used, but its languages and policies are unknown: {reason}</source>
        <translation>der Adapter in {folder} wird verwendet, aber seine Sprachen und Strategien sind unbekannt: {reason}</translation>
    </message>
    <message>
        <source>{folder} is no Surtitle model: it has no {file}; choose a folder that has one</source>
        <translation>{folder} ist kein Surtitle-Modell: Es fehlt {file}; wählen Sie einen Ordner, der es enthält</translation>
    </message>
    <message>
        <source>the model {model} translates from {known}, not from {code!r}: choose one of these or another model</source>
        <translation>das Modell {model} übersetzt aus {known}, nicht aus {code!r}: bitte eine davon oder ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>the captions are to be in {code!r}, which is spoken: choose another language for them</source>
        <translation>die Untertitel sollen in {code!r} sein, was gesprochen wird: bitte eine andere Sprache für sie wählen</translation>
    </message>
    <message>
        <source>Converting {name} for this computer, once: {done:.0%}</source>
        <translation>{name} wird für diesen Computer umgewandelt, einmalig: {done:.0%}</translation>
    </message>
    <message>
        <source>converting {name} was cancelled: nothing of it is kept</source>
        <translation>die Umwandlung von {name} wurde abgebrochen: nichts davon bleibt</translation>
    </message>
    <message>
        <source>{name} cannot be converted: {size} are needed in {folder} and {free} are free; make room there</source>
        <translation>{name} kann nicht umgewandelt werden: {size} werden in {folder} gebraucht, {free} sind frei; bitte dort Platz schaffen</translation>
    </message>
    <message>
        <source>{name} cannot be converted: {folder} cannot be written ({reason}); make room there, or see to its permissions</source>
        <translation>{name} kann nicht umgewandelt werden: {folder} kann nicht beschrieben werden ({reason}); bitte dort Platz schaffen oder die Rechte prüfen</translation>
    </message>
    <message>
        <source>{name} needs libraries that are missing ({reason}): install them with pip install &apos;surtitle[translation]&apos;</source>
        <translation>{name} braucht Bibliotheken, die fehlen ({reason}): bitte mit pip install &apos;surtitle[translation]&apos; installieren</translation>
    </message>
    <message>
        <source>{name} is licensed under {licence}, which forbids commercial use: accept that once, in the terminal with --accept-licence, if yours is not commercial, or choose another model</source>
        <translation>{name} steht unter der Lizenz {licence}, die gewerbliche Nutzung verbietet: Stimmen Sie dem einmal zu, im Terminal mit --accept-licence, wenn Ihre Nutzung nicht gewerblich ist, oder wählen Sie ein anderes Modell</translation>
    </message>
    <message>
        <source>{name} was to be computed on {device}, where CTranslate2 finds no usable GPU: choose auto or cpu</source>
        <translation>{name} sollte auf {device} gerechnet werden, wo CTranslate2 keine brauchbare GPU findet: bitte auto oder cpu wählen</translation>
    </message>
    <message>
        <source>{model} cannot translate lines side by side: use --batch 1</source>
        <translation>{model} kann Zeilen nicht nebeneinander übersetzen: bitte --batch 1 nehmen</translation>
    </message>
    <message>
        <source>{model} cannot be run as {system!r}: choose {suited!r} or auto, or another model</source>
        <translation>{model} kann nicht als {system!r} laufen: bitte {suited!r} oder auto oder ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>the model {model} translates to {known}, not to {code!r}: choose one of these or another model</source>
        <translation>das Modell {model} übersetzt in {known}, nicht in {code!r}: Wählen Sie eine dieser Sprachen oder ein anderes Modell</translation>
    </message>
    <message>
        <source>the model in {folder} {reasons}: choose a smaller model or another device</source>
        <translation>das Modell in {folder} {reasons}: Wählen Sie ein kleineres Modell oder ein anderes Gerät</translation>
    </message>
    <message>
        <source>the model in {folder} {reasons}: choose a smaller model, or close other programs</source>
        <translation>das Modell in {folder} {reasons}: Wählen Sie ein kleineres Modell, oder schließen Sie andere Programme</translation>
    </message>
    <message>
        <source>the model in {folder} {reasons}: choose --device {device} --quantize {quantise}</source>
        <translation>das Modell in {folder} {reasons}: Wählen Sie --device {device} --quantize {quantise}</translation>
    </message>
    <message>
        <source>{folder} has no {name}: name another folder</source>
        <translation>in {folder} fehlt {name}: bitte einen anderen Ordner nennen</translation>
    </message>
    <message>
        <source>weights cannot be kept {kept}: use --quantize none or --device cpu</source>
        <translation>Gewichte lassen sich nicht {kept} halten: bitte --quantize none oder --device cpu verwenden</translation>
    </message>
    <message>
        <source>a model in {bits} needs bitsandbytes: install it with pip install &apos;surtitle[quantise]&apos;, or use --quantize none</source>
        <translation>ein Modell in {bits} braucht bitsandbytes: bitte mit pip install &apos;surtitle[quantise]&apos; installieren oder --quantize none verwenden</translation>
    </message>
    <message>
        <source>the model {model} has no chat template: choose an instruct model</source>
        <translation>das Modell {model} hat keine Chat-Vorlage: bitte ein Instruct-Modell wählen</translation>
    </message>
    <message>
        <source>the chat template of {model} cannot be used ({reason}): choose another model</source>
        <translation>die Chat-Vorlage von {model} ist nicht verwendbar ({reason}): bitte ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>the chat template of {model} alters messages: choose another model</source>
        <translation>die Chat-Vorlage von {model} verändert Nachrichten: bitte ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>nothing tells which token ends a turn of {model}: choose an instruct model</source>
        <translation>nichts sagt, welches Token einen Beitrag von {model} beendet: bitte ein Instruct-Modell wählen</translation>
    </message>
    <message>
        <source>the tokenizer of {model} does not know the marker {marker!r} that its card names</source>
        <translation>der Tokenizer von {model} kennt die Marke {marker!r} nicht, die seine Karte nennt</translation>
    </message>
    <message>
        <source>the layout {layout} needs a model with ALiBi, and this one has none: choose another layout</source>
        <translation>das Layout {layout} braucht ein Modell mit ALiBi, und dieses hat keines: ein anderes Layout wählen</translation>
    </message>
    <message>
        <source>needs torch and transformers: pip install &apos;surtitle[torch]&apos;</source>
        <translation>braucht torch und transformers: pip install &apos;surtitle[torch]&apos;</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot compute the model ({reason})</source>
        <translation>ONNX Runtime kann das Modell nicht berechnen ({reason})</translation>
    </message>
    <message>
        <source>the device {device} was asked for and torch finds none: use --device cpu or auto</source>
        <translation>das Gerät {device} wurde verlangt, und torch findet keines: Verwenden Sie --device cpu oder auto</translation>
    </message>
    <message>
        <source>a sentence could not be translated to its end ({reason}): it stays as it is and the next ones are translated; close other programs, or choose a smaller model, if this happens again</source>
        <translation>ein Satz konnte nicht zu Ende übersetzt werden ({reason}): Er bleibt, wie er ist, und die nächsten werden übersetzt; schließen Sie andere Programme, oder wählen Sie ein kleineres Modell, wenn das wieder geschieht</translation>
    </message>
    <message>
        <source>{most} words wait already, and no more were taken (left out: {n_words}): choose larger steps or a smaller model, and give them again</source>
        <translation>Es warten schon {most} Wörter, und mehr wurden nicht angenommen (ausgelassen: {n_words}): Wählen Sie größere Schritte oder ein kleineres Modell, und geben Sie sie noch einmal ein</translation>
    </message>
    <message>
        <source>the glossary of {n_terms} terms takes {n_rows} rows of the prompt, and there is room for {most}: leave out terms</source>
        <translation>das Glossar mit {n_terms} Begriffen belegt {n_rows} Zeilen des Prompts, und Platz ist für {most}: Lassen Sie Begriffe weg</translation>
    </message>
    <message>
        <source>a glossary holds at most {most} terms of {most_long} characters for this model, and this one has {n_terms}, the longest of {longest} characters: leave out terms</source>
        <translation>ein Glossar fasst bei diesem Modell höchstens {most} Begriffe mit je {most_long} Zeichen, und dieses hat {n_terms}, der längste mit {longest} Zeichen: Lassen Sie Begriffe weg</translation>
    </message>
    <message>
        <source>the glossary {path} cannot be read ({reason}): name a UTF-8 text file</source>
        <translation>das Glossar {path} ist nicht lesbar ({reason}): bitte eine Textdatei in UTF-8 wählen</translation>
    </message>
    <message>
        <source>byte {byte} is no UTF-8</source>
        <translation>Byte {byte} ist kein UTF-8</translation>
    </message>
    <message>
        <source>the prompt of {model} takes {n_rows} rows, and the cache has {capacity}: choose another adapter or model</source>
        <translation>der Prompt von {model} belegt {n_rows} Zeilen, und der Zwischenspeicher hat {capacity}: Wählen Sie einen anderen Adapter oder ein anderes Modell</translation>
    </message>
    <message>
        <source>the language that is spoken is written without blanks between words, which was not tried: typed text is translated at each blank and at the end of a line, speech in pieces of a few characters, and captions may be poor</source>
        <translation>die gesprochene Sprache schreibt keine Leerzeichen zwischen Wörter, was nicht erprobt ist: Getipptes wird bei jedem Leerzeichen und am Zeilenende übersetzt, Gesprochenes in Stücken von wenigen Zeichen, und die Untertitel können schlecht sein</translation>
    </message>
    <message>
        <source>{model} makes no drafts that could agree: captions come at the usual times, unless you choose another timing</source>
        <translation>{model} macht keine Entwürfe, die übereinstimmen könnten: die Untertitel kommen zu den üblichen Zeiten, wenn Sie keine anderen wählen</translation>
    </message>
    <message>
        <source>the translation engine could not be loaded: {reason}</source>
        <translation>der Übersetzer konnte nicht geladen werden: {reason}</translation>
    </message>
    <message>
        <source>a file could not be used: {reason}</source>
        <translation>eine Datei konnte nicht verwendet werden: {reason}</translation>
    </message>
    <message>
        <source>memory ran out ({reason}): choose 4 bits, a smaller model or another device</source>
        <translation>der Speicher reichte nicht ({reason}): Wählen Sie 4 Bit, ein kleineres Modell oder ein anderes Gerät</translation>
    </message>
    <message>
        <source>a server has an adapter of its own: choose this computer to translate with another one</source>
        <translation>ein Server hat seinen eigenen Adapter: Wählen Sie diesen Computer, um mit einem anderen zu übersetzen</translation>
    </message>
    <message>
        <source>the engine stopped unexpectedly: {reason}</source>
        <translation>der Übersetzer wurde unerwartet beendet: {reason}</translation>
    </message>
    <message>
        <source>{model} takes no adapter, since it is a translation model with an encoder and a decoder: leave the adapter out, or choose another model</source>
        <translation>{model} nimmt keinen Adapter, da es ein Übersetzungsmodell mit Encoder und Decoder ist: bitte den Adapter weglassen oder ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>adapters cannot be switched on {model}: one is merged into it, or its base is not known; load the base without an adapter</source>
        <translation>auf {model} können Adapter nicht gewechselt werden: Einer ist eingerechnet, oder die Basis ist unbekannt; laden Sie die Basis ohne Adapter</translation>
    </message>
    <message>
        <source>an adapter called {name} is loaded: unload that one first</source>
        <translation>ein Adapter namens {name} ist schon geladen: Entladen Sie diesen zuerst</translation>
    </message>
    <message>
        <source>{name} stays in use</source>
        <translation>{name} wird weiter verwendet</translation>
    </message>
    <message>
        <source>the base without an adapter stays in use</source>
        <translation>die Basis wird weiter ohne Adapter verwendet</translation>
    </message>
    <message>
        <source>the adapter {name} is in use: switch to another one before it is unloaded</source>
        <translation>der Adapter {name} wird gerade verwendet: Wechseln Sie zu einem anderen, bevor Sie ihn entladen</translation>
    </message>
    <message>
        <source>no adapter {name} is loaded; there are: {known}</source>
        <translation>kein Adapter {name} ist geladen; es gibt: {known}</translation>
    </message>
    <message>
        <source>no adapter {name} is loaded; there are none</source>
        <translation>kein Adapter {name} ist geladen; es gibt keinen</translation>
    </message>
    <message>
        <source>there is no adapter {name!r}: surtitle adapters list names those at hand</source>
        <translation>es gibt keinen Adapter {name!r}: surtitle adapters list nennt die vorhandenen</translation>
    </message>
    <message>
        <source>an adapter {name!r} comes with the program: add this one under another name</source>
        <translation>ein Adapter {name!r} gehört zum Programm: bitte diesen unter einem anderen Namen hinzufügen</translation>
    </message>
    <message>
        <source>there is an adapter {name!r} already: replace it, or choose another name</source>
        <translation>es gibt schon einen Adapter {name!r}: bitte ihn ersetzen oder einen anderen Namen wählen</translation>
    </message>
    <message>
        <source>the adapter {name!r} comes with the program and cannot be removed</source>
        <translation>der Adapter {name!r} gehört zum Programm und lässt sich nicht entfernen</translation>
    </message>
    <message>
        <source>the adapters in {folder} cannot be read: {reason}; make room there, or see to its permissions</source>
        <translation>die Adapter in {folder} sind nicht lesbar: {reason}; bitte dort Platz schaffen oder die Rechte prüfen</translation>
    </message>
    <message>
        <source>the adapters in {folder} cannot be written: {reason}; make room there, or see to its permissions</source>
        <translation>die Adapter in {folder} lassen sich nicht schreiben: {reason}; bitte dort Platz schaffen oder die Rechte prüfen</translation>
    </message>
    <message>
        <source>listening to {device}</source>
        <translation>der Ton kommt von {device}</translation>
    </message>
    <message>
        <source>{device} was plugged in again: listening to it</source>
        <translation>{device} wurde wieder angeschlossen: Der Ton kommt jetzt von dort</translation>
    </message>
    <message>
        <source>{device} is back: listening to it again</source>
        <translation>{device} ist wieder da: Der Ton kommt wieder von dort</translation>
    </message>
    <message>
        <source>{missed} is not there: listening to {device} until it is back</source>
        <translation>{missed} ist nicht da: Bis dahin kommt der Ton von {device}</translation>
    </message>
    <message>
        <source>{missed} is gone: listening to {device} until it is back</source>
        <translation>{missed} ist weg: Bis es wieder da ist, kommt der Ton von {device}</translation>
    </message>
    <message>
        <source>{missed} gives no sound: listening to {device} until it does</source>
        <translation>von {missed} kommt kein Ton: Bis dahin kommt er von {device}</translation>
    </message>
    <message>
        <source>the sound settings moved the recording to {device}: listening to it</source>
        <translation>die Toneinstellungen wurden geändert: Der Ton kommt jetzt von {device}</translation>
    </message>
    <message>
        <source>the default microphone is now {device}: listening to it</source>
        <translation>das Standardmikrofon ist jetzt {device}: Der Ton kommt nun von dort</translation>
    </message>
    <message>
        <source>the default output is now {device}: listening to it</source>
        <translation>der Standardausgang ist jetzt {device}: Der Ton kommt nun von dort</translation>
    </message>
    <message>
        <source>there is no microphone: waiting for one</source>
        <translation>es ist kein Mikrofon da: Sobald es eines gibt, geht es los</translation>
    </message>
    <message>
        <source>there is no output: waiting for one</source>
        <translation>es ist kein Tonausgang da: Sobald es einen gibt, geht es los</translation>
    </message>
    <message>
        <source>{device} is gone and there is no microphone: waiting for one</source>
        <translation>{device} ist weg, und es ist kein anderes Mikrofon da: Sobald es eines gibt, geht es weiter</translation>
    </message>
    <message>
        <source>{device} is gone and there is no output: waiting for one</source>
        <translation>{device} ist weg, und es ist kein anderer Tonausgang da: Sobald es einen gibt, geht es weiter</translation>
    </message>
    <message>
        <source>no sound from {device}: opening it again</source>
        <translation>kein Ton von {device}: Das Gerät wird neu geöffnet</translation>
    </message>
    <message>
        <source>no sound from {device}: still trying</source>
        <translation>kein Ton von {device}: Es wird weiter versucht</translation>
    </message>
    <message>
        <source>{device} is muted: please switch it on</source>
        <translation>{device} ist stummgeschaltet: Bitte einschalten</translation>
    </message>
    <message>
        <source>{device} gives nothing but silence: please switch it on</source>
        <translation>von {device} kommt nur Stille: Bitte einschalten</translation>
    </message>
    <message>
        <source>{device} can be heard again</source>
        <translation>{device} ist wieder zu hören</translation>
    </message>
    <message>
        <source>the computer slept for {seconds:.0f} s: listening to {device} again</source>
        <translation>der Computer war {seconds:.0f} s im Ruhezustand: Der Ton kommt wieder von {device}</translation>
    </message>
    <message>
        <source>the sound server does not answer: waiting for it</source>
        <translation>der Tonserver antwortet nicht: Sobald er antwortet, geht es weiter</translation>
    </message>
    <message>
        <source>{seconds:.2f} s of sound were lost</source>
        <translation>{seconds:.2f} s Ton gingen verloren</translation>
    </message>
    <message>
        <source>{seconds:.2f} s of sound were lost on the way from {device}</source>
        <translation>{seconds:.2f} s Ton gingen auf dem Weg von {device} verloren</translation>
    </message>
    <message>
        <source>{seconds} s of sound wait to be recognised: what comes now is lost until there is room; choose a smaller model</source>
        <translation>{seconds} s Ton warten darauf, erkannt zu werden: Was jetzt kommt, geht verloren, bis wieder Platz ist; wählen Sie ein kleineres Modell</translation>
    </message>
    <message>
        <source>{file} is damaged: what cannot be read of it is left out</source>
        <translation>{file} ist beschädigt: Was davon nicht gelesen werden kann, fehlt</translation>
    </message>
    <message>
        <source>expected an audio or video file, but {path} is none that can be read: {reason}</source>
        <translation>eine Audio- oder Videodatei wurde erwartet, doch {path} ist keine lesbare: {reason}</translation>
    </message>
    <message>
        <source>expected an audio or video file, but {path} cannot be read: {reason}</source>
        <translation>eine Audio- oder Videodatei wurde erwartet, doch {path} ist nicht lesbar: {reason}</translation>
    </message>
    <message>
        <source>{path} cannot be read any further: {reason}</source>
        <translation>{path} ist nicht weiter lesbar: {reason}</translation>
    </message>
    <message>
        <source>there is no audio track {track} in {path}: it has {tracks}</source>
        <translation>in {path} gibt es keine Tonspur {track}: es sind {tracks}</translation>
    </message>
    <message>
        <source>No speech was found in {file}</source>
        <translation>In {file} wurde keine Sprache gefunden</translation>
    </message>
    <message>
        <source>{file} has {tracks} audio tracks: track {track} is heard</source>
        <translation>{file} hat {tracks} Tonspuren: Gehört wird Spur {track}</translation>
    </message>
    <message>
        <source>{file} has {tracks} audio tracks: track {track} is heard ({language})</source>
        <translation>{file} hat {tracks} Tonspuren: Gehört wird Spur {track} ({language})</translation>
    </message>
    <message>
        <source>expected a file with sound, but there is none in {path}: name another</source>
        <translation>eine Datei mit Ton wurde erwartet, doch {path} enthält keinen: bitte eine andere nennen</translation>
    </message>
    <message>
        <source>the recording stopped unexpectedly: {reason}</source>
        <translation>die Aufnahme wurde unerwartet beendet: {reason}</translation>
    </message>
    <message>
        <source>the sound server did not answer within {seconds:g} s: restart it</source>
        <translation>der Tonserver hat nicht innerhalb von {seconds:g} s geantwortet: Starten Sie ihn neu</translation>
    </message>
    <message>
        <source>no sound server answers: start PipeWire or PulseAudio</source>
        <translation>kein Tonserver antwortet: Starten Sie PipeWire oder PulseAudio</translation>
    </message>
    <message>
        <source>PortAudio, which records from microphones, does not work here: {reason}</source>
        <translation>PortAudio, das von Mikrofonen aufnimmt, funktioniert hier nicht: {reason}</translation>
    </message>
    <message>
        <source>the outputs of this computer cannot be listed: {reason}</source>
        <translation>die Tonausgänge dieses Computers können nicht aufgelistet werden: {reason}</translation>
    </message>
    <message>
        <source>{device} cannot be recorded: {reason}</source>
        <translation>{device} kann nicht aufgenommen werden: {reason}</translation>
    </message>
    <message>
        <source>sound needs libraries that are missing ({reason}): install them with pip install &apos;surtitle[speech]&apos;</source>
        <translation>für Ton fehlen Bibliotheken ({reason}): Installieren Sie sie mit pip install &apos;surtitle[speech]&apos;</translation>
    </message>
    <message>
        <source>the translation falls behind the speaker: choose a smaller translation model, or a timing that reads more words at a time</source>
        <translation>die Übersetzung hält nicht Schritt: Wählen Sie ein kleineres Übersetzungsmodell oder ein Tempo, das mehr Wörter auf einmal liest</translation>
    </message>
    <message>
        <source>listening stopped unexpectedly: {reason}</source>
        <translation>das Zuhören wurde unerwartet beendet: {reason}</translation>
    </message>
    <message>
        <source>hearing speech needs libraries that are missing ({reason}): install them with pip install &apos;surtitle[speech]&apos;</source>
        <translation>zum Zuhören fehlen Bibliotheken ({reason}): Installieren Sie sie mit pip install &apos;surtitle[speech]&apos;</translation>
    </message>
    <message>
        <source>recognising speech needs libraries that are missing ({reason}): install them with pip install &apos;surtitle[speech]&apos;</source>
        <translation>zur Spracherkennung fehlen Bibliotheken ({reason}): Installieren Sie sie mit pip install &apos;surtitle[speech]&apos;</translation>
    </message>
    <message>
        <source>speech was to be recognised on cuda and no usable GPU was found: choose auto or cpu</source>
        <translation>Sprache sollte auf cuda erkannt werden, und keine brauchbare GPU wurde gefunden: Wählen Sie auto oder cpu</translation>
    </message>
    <message>
        <source>the speech model moonshine.en comes with the program and is not installed: install it with pip install &apos;surtitle[speech]&apos;, or choose another one</source>
        <translation>das Spracherkennungsmodell moonshine.en gehört zum Programm und ist nicht installiert: Installieren Sie es mit pip install &apos;surtitle[speech]&apos;, oder wählen Sie ein anderes</translation>
    </message>
    <message>
        <source>the speech model {model} does not recognise {code!r}: choose one that does, such as base or small; those whose names end in .en recognise English alone</source>
        <translation>das Spracherkennungsmodell {model} erkennt {code!r} nicht: Wählen Sie eines, das es erkennt, etwa base oder small; solche, deren Name auf .en endet, erkennen nur Englisch</translation>
    </message>
    <message>
        <source>downloading {name} was cancelled: what is there is kept</source>
        <translation>der Download von {name} wurde abgebrochen: Was da ist, bleibt</translation>
    </message>
    <message>
        <source>{name} cannot be downloaded: huggingface.co {reason}; try again later, or choose another model or a model folder</source>
        <translation>{name} fehlt: huggingface.co {reason}; versuchen Sie es später, oder wählen Sie ein anderes Modell oder einen Modellordner</translation>
    </message>
    <message>
        <source>sends an answer of more than {most} bytes</source>
        <translation>sendet eine Antwort von mehr als {most} Bytes</translation>
    </message>
    <message>
        <source>has not answered within {seconds:.0f} s</source>
        <translation>antwortete {seconds:.0f} s lang nicht</translation>
    </message>
    <message>
        <source>{name} cannot be downloaded: the list of its files on huggingface.co cannot be used ({reason}); try again later, or choose another model or a model folder</source>
        <translation>{name} kann nicht heruntergeladen werden: Die Dateiliste von huggingface.co ist nicht zu gebrauchen ({reason}); versuchen Sie es später noch einmal, oder wählen Sie ein anderes Modell oder einen Modellordner</translation>
    </message>
    <message>
        <source>it answers {status}</source>
        <translation>er antwortet {status}</translation>
    </message>
    <message>
        <source>no answer came in time</source>
        <translation>die Antwort blieb aus</translation>
    </message>
    <message>
        <source>the connection broke</source>
        <translation>die Verbindung riss</translation>
    </message>
    <message>
        <source>it speaks no proper HTTP</source>
        <translation>er spricht kein richtiges HTTP</translation>
    </message>
    <message>
        <source>it sends us to an address that is not secure</source>
        <translation>er schickt uns zu einer Adresse, die nicht sicher ist</translation>
    </message>
    <message>
        <source>it sends us from one address to the next</source>
        <translation>er schickt uns von einer Adresse zur nächsten</translation>
    </message>
    <message>
        <source>name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>status</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>ok</source>
        <translation>in Ordnung</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>blocked</source>
        <translation>gesperrt</translation>
    </message>
    <message>
        <source>reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>description</source>
        <translation>Beschreibung</translation>
    </message>
    <message>
        <source>base</source>
        <translation>Basis</translation>
    </message>
    <message>
        <source>languages</source>
        <translation>Sprachen</translation>
    </message>
    <message>
        <source>{source} to {targets}</source>
        <translation>{source} nach {targets}</translation>
    </message>
    <message>
        <source>slot length</source>
        <translation>Slot-Länge</translation>
    </message>
    <message>
        <source>{length} (trained with {lengths})</source>
        <translation>{length} (trainiert mit {lengths})</translation>
    </message>
    <message>
        <source>policies</source>
        <translation>Strategien</translation>
    </message>
    <message>
        <source>licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>made with</source>
        <translation>erstellt mit</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>{name} (pairs: {pairs:,}), {licence}</source>
        <translation>{name} (Paare: {pairs:,}), {licence}</translation>
    </message>
    <message>
        <source>{test_set} (lines: {lines:,}), {language}, {policy}: BLEU {bleu:.1f}{base}, LAAL {laal}</source>
        <translation>{test_set} (Zeilen: {lines:,}), {language}, {policy}: BLEU {bleu:.1f}{base}, LAAL {laal}</translation>
    </message>
    <message>
        <source>score</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source> (base alone {bleu:.1f})</source>
        <translation> (Basis allein {bleu:.1f})</translation>
    </message>
    <message>
        <source>the captions cannot be written to {path}: {reason}; choose another place</source>
        <translation>die Untertitel lassen sich nicht nach {path} schreiben: {reason}; bitte einen anderen Ort wählen</translation>
    </message>
    <message>
        <source>… {seconds} s not captioned</source>
        <translation>… {seconds} s ohne Untertitel</translation>
    </message>
    <message>
        <source>the glossary could not be written to {path}: {reason}; it holds for now</source>
        <translation>das Glossar ließ sich nicht nach {path} schreiben: {reason}; es gilt vorerst</translation>
    </message>
    <message>
        <source>the glossary {path} is no regular file: replace it by one</source>
        <translation>das Glossar {path} ist keine gewöhnliche Datei: bitte durch eine ersetzen</translation>
    </message>
    <message>
        <source>there is no glossary for {language}, which is no language code: choose another language</source>
        <translation>für {language} gibt es kein Glossar, denn das ist kein Sprachcode: bitte eine andere Sprache wählen</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}); Surtitle starts with its own choices</source>
        <translation>{path} ist nicht lesbar ({reason}); Surtitle beginnt mit den eigenen Vorgaben</translation>
    </message>
    <message>
        <source>{path} cannot be read ({reason}); the choices are those of {copy}</source>
        <translation>{path} ist nicht lesbar ({reason}); die Einstellungen sind die von {copy}</translation>
    </message>
    <message>
        <source>Your choices could not be stored in {path}: {reason}; they hold until Surtitle is closed</source>
        <translation>Die Einstellungen ließen sich nicht in {path} speichern: {reason}; sie gelten, bis Surtitle geschlossen wird</translation>
    </message>
    <message>
        <source>The settings could not be written to {path}: {reason}; choose another file</source>
        <translation>Die Einstellungen ließen sich nicht nach {path} schreiben: {reason}; bitte eine andere Datei wählen</translation>
    </message>
    <message>
        <source>In {path}, {values} could not be used</source>
        <translation>In {path} war {values} nicht verwendbar</translation>
    </message>
    <message>
        <source>it has more than {most:,} dots</source>
        <translation>sie hat mehr als {most:,} Punkte</translation>
    </message>
    <message>
        <source>it is nested too deeply</source>
        <translation>sie ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>it is nested more than {most} levels deep</source>
        <translation>sie ist mehr als {most} Ebenen tief verschachtelt</translation>
    </message>
    <message>
        <source>a whole number in it is too large</source>
        <translation>eine ganze Zahl darin ist zu groß</translation>
    </message>
    <message>
        <source>something unexpected went wrong ({reason}); Surtitle goes on, and its log says more</source>
        <translation>etwas Unerwartetes ging schief ({reason}); Surtitle läuft weiter, und sein Protokoll sagt mehr</translation>
    </message>
    <message>
        <source>Early</source>
        <translation>Früh</translation>
    </message>
    <message>
        <source>Captions move on with every three words: sooner, and less sure.</source>
        <translation>Untertitel gehen mit je drei Wörtern weiter: früher und weniger sicher.</translation>
    </message>
    <message>
        <source>Balanced (recommended)</source>
        <translation>Ausgewogen (empfohlen)</translation>
    </message>
    <message>
        <source>A few words are read before captions move on.</source>
        <translation>Einige Wörter werden gelesen, bevor Untertitel weitergehen.</translation>
    </message>
    <message>
        <source>A sentence is translated when it is complete; long ones come later.</source>
        <translation>Ein Satz wird übersetzt, wenn er vollständig ist; lange kommen später.</translation>
    </message>
    <message>
        <source>About {} seconds from a word to its caption.</source>
        <translation>Etwa {} Sekunden vom Wort bis zu seinem Untertitel.</translation>
    </message>
    <message>
        <source>Measured here: {} seconds from a word to its caption.</source>
        <translation>Hier gemessen: {} Sekunden vom Wort bis zu seinem Untertitel.</translation>
    </message>
    <message>
        <source>Sure</source>
        <translation>Sicher</translation>
    </message>
    <message>
        <source>Arabic</source>
        <translation>Arabisch</translation>
    </message>
    <message>
        <source>Czech</source>
        <translation>Tschechisch</translation>
    </message>
    <message>
        <source>Danish</source>
        <translation>Dänisch</translation>
    </message>
    <message>
        <source>German</source>
        <translation>Deutsch</translation>
    </message>
    <message>
        <source>Greek</source>
        <translation>Griechisch</translation>
    </message>
    <message>
        <source>English</source>
        <translation>Englisch</translation>
    </message>
    <message>
        <source>Spanish</source>
        <translation>Spanisch</translation>
    </message>
    <message>
        <source>Finnish</source>
        <translation>Finnisch</translation>
    </message>
    <message>
        <source>French</source>
        <translation>Französisch</translation>
    </message>
    <message>
        <source>Hindi</source>
        <translation>Hindi</translation>
    </message>
    <message>
        <source>Hungarian</source>
        <translation>Ungarisch</translation>
    </message>
    <message>
        <source>Italian</source>
        <translation>Italienisch</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>Japanisch</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>Koreanisch</translation>
    </message>
    <message>
        <source>Dutch</source>
        <translation>Niederländisch</translation>
    </message>
    <message>
        <source>Norwegian</source>
        <translation>Norwegisch</translation>
    </message>
    <message>
        <source>Polish</source>
        <translation>Polnisch</translation>
    </message>
    <message>
        <source>Portuguese</source>
        <translation>Portugiesisch</translation>
    </message>
    <message>
        <source>Romanian</source>
        <translation>Rumänisch</translation>
    </message>
    <message>
        <source>Russian</source>
        <translation>Russisch</translation>
    </message>
    <message>
        <source>Swedish</source>
        <translation>Schwedisch</translation>
    </message>
    <message>
        <source>Turkish</source>
        <translation>Türkisch</translation>
    </message>
    <message>
        <source>Ukrainian</source>
        <translation>Ukrainisch</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>Chinesisch</translation>
    </message>
    <message>
        <source>the sound of {path} cannot be converted (channels: {channels}, rate: {rate_hz} Hz): save it with another program, for example as stereo at 48000 Hz</source>
        <translation>der Ton von {path} lässt sich nicht umrechnen (Kanäle: {channels}, Abtastrate: {rate_hz} Hz): speichern Sie ihn mit einem anderen Programm, zum Beispiel als Stereo mit 48000 Hz</translation>
    </message>
    <message>
        <source>the speech model {name} is not on this computer yet: {reason}</source>
        <translation>das Spracherkennungsmodell {name} ist noch nicht auf diesem Computer: {reason}</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>Schnell</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Accurate</source>
        <translation>Genau</translation>
    </message>
    <message>
        <source>Included</source>
        <translation>Enthalten</translation>
    </message>
    <message>
        <source>memory has no room for two models at once: {needed} are needed beside the one in use, {free} are free</source>
        <translation>der Speicher reicht nicht für zwei Modelle zugleich: Neben dem jetzigen werden {needed} gebraucht, {free} sind frei</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>{}, built in</source>
        <translation>{}, eingebaut</translation>
    </message>
    <message>
        <source>{}, by a chat model</source>
        <translation>{}, mit einem Chatmodell</translation>
    </message>
    <message>
        <source>{} and many more</source>
        <translation>{} und viele weitere</translation>
    </message>
    <message>
        <source>weak</source>
        <translation>schwach</translation>
    </message>
    <message>
        <source>fair</source>
        <translation>mittel</translation>
    </message>
    <message>
        <source>good</source>
        <translation>gut</translation>
    </message>
    <message>
        <source>very good</source>
        <translation>sehr gut</translation>
    </message>
    <message>
        <source>Quality: {}</source>
        <translation>Qualität: {}</translation>
    </message>
    <message>
        <source>For simple, everyday sentences</source>
        <translation>Für einfache Alltagssätze</translation>
    </message>
    <message>
        <source>Quality not published</source>
        <translation>Qualität nicht veröffentlicht</translation>
    </message>
    <message>
        <source>{} to download</source>
        <translation>{} Download</translation>
    </message>
    <message>
        <source>on this computer</source>
        <translation>auf diesem Computer</translation>
    </message>
    <message>
        <source>Perhaps too slow: being measured again</source>
        <translation>Vielleicht zu langsam: wird noch gemessen</translation>
    </message>
    <message>
        <source>Too slow for this computer</source>
        <translation>Zu langsam für diesen Computer</translation>
    </message>
    <message>
        <source>Fast enough (uses {:.0f} % of the time)</source>
        <translation>Schnell genug (braucht {:.0f} % der Zeit)</translation>
    </message>
    <message>
        <source>Needs {} of memory</source>
        <translation>Braucht {} Speicher</translation>
    </message>
    <message>
        <source>Runs (speed not known)</source>
        <translation>Läuft (Tempo unbekannt)</translation>
    </message>
    <message>
        <source>Runs on the graphics card</source>
        <translation>Läuft auf der Grafikkarte</translation>
    </message>
    <message>
        <source>Free for any use</source>
        <translation>Frei für jeden Zweck</translation>
    </message>
    <message>
        <source>{:.1f} {} on {}, published at {}</source>
        <translation>{:.1f} {} auf {}, veröffentlicht unter {}</translation>
    </message>
    <message>
        <source>A second of speech takes about {:.1f} s of computing here, by our estimate.</source>
        <translation>Eine Sekunde Sprache kostet hier schätzungsweise {:.1f} s Rechenzeit.</translation>
    </message>
    <message>
        <source>the download of {name} broke off after {done} of {total} ({reason}): try again, it goes on from there</source>
        <translation>der Download von {name} brach nach {done} von {total} ab ({reason}): Ein neuer Versuch setzt ihn fort</translation>
    </message>
    <message>
        <source>expected a speech model in {folder} and found none: a Whisper model for CTranslate2 has a model.bin, a streaming one for sherpa-onnx a tokens.txt and .onnx files</source>
        <translation>im Ordner {folder} wurde ein Spracherkennungsmodell erwartet, und da ist keines: Ein Whisper-Modell für CTranslate2 hat eine model.bin, ein Streaming-Modell für sherpa-onnx eine tokens.txt und .onnx-Dateien</translation>
    </message>
    <message>
        <source>At once</source>
        <translation>Sofort</translation>
    </message>
    <message>
        <source>expected a streaming speech model for sherpa-onnx in {folder}: name another folder (detail: {detail})</source>
        <translation>ein Streaming-Modell für sherpa-onnx wurde in {folder} erwartet: bitte einen anderen Ordner nennen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>the converted model in {folder} cannot be loaded; where its original is gone, get the whole model again, else delete that folder, and it is converted again (detail: {detail})</source>
        <translation>das umgewandelte Modell in {folder} kann nicht geladen werden: Ist sein Original nicht mehr da, bitte das ganze Modell neu beschaffen, sonst diesen Ordner löschen, dann wird es neu umgewandelt (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>{name} cannot be converted; close other programs and try again, get it again or choose another model (detail: {detail})</source>
        <translation>{name} lässt sich nicht umwandeln: bitte andere Programme schließen und es noch einmal versuchen, das Modell neu beschaffen oder ein anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>the model {model} reads text alone; choose one that was trained for speech, or listen with a speech model</source>
        <translation>das Modell {model} liest nur Text; wählen Sie eines, das für Sprache trainiert wurde, oder hören Sie mit einem Spracherkennungsmodell zu</translation>
    </message>
    <message>
        <source>the model in {folder} cannot be loaded: {reason}</source>
        <translation>das Modell in {folder} kann nicht geladen werden: {reason}</translation>
    </message>
    <message>
        <source>the model in {folder} needs torch and transformers, which are not installed: install them with pip install &apos;surtitle[torch]&apos;, or choose another model (detail: {detail})</source>
        <translation>das Modell in {folder} braucht torch und transformers, die nicht installiert sind: sie mit pip install &apos;surtitle[torch]&apos; installieren oder ein anderes Modell wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>the model is computed by torch, which starts later and takes more memory (detail: {detail})</source>
        <translation>das Modell wird von torch berechnet, das später startet und mehr Speicher braucht (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>a policy is written {forms} or offline (N and K from 1 to 9999), got {text!r}</source>
        <translation>eine Strategie schreibt man {forms} oder offline (N und K von 1 bis 9999), nicht {text!r}</translation>
    </message>
    <message>
        <source>{text} asks for drafts, which slots do not make: write read:N, wait:K or offline</source>
        <translation>{text} verlangt Entwürfe, die Slots nicht machen: bitte read:N, wait:K oder offline schreiben</translation>
    </message>
    <message>
        <source>{server} does not answer ({reason}): captions wait for it; choose this computer to translate with a model of its own</source>
        <translation>{server} antwortet nicht ({reason}): Untertitel warten darauf; wählen Sie diesen Computer, um mit einem eigenen Modell zu übersetzen</translation>
    </message>
    <message>
        <source>the adapter {name} cannot be switched to: {stays}; choose a smaller one or close other programs (detail: {detail})</source>
        <translation>zum Adapter {name} kann nicht gewechselt werden: {stays}; bitte einen kleineren wählen oder andere Programme schließen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>the adapter in {folder} failed its probe: {stays}; choose another adapter (detail: {detail})</source>
        <translation>der Adapter in {folder} bestand seine Probe nicht: {stays}; bitte einen anderen Adapter wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>the adapter in {folder} cannot be used: {reason}</source>
        <translation>der Adapter in {folder} kann nicht verwendet werden: {reason}</translation>
    </message>
    <message>
        <source>the adapter does not fit the model; choose another adapter (detail: {detail})</source>
        <translation>der Adapter passt nicht zum Modell: bitte einen anderen Adapter wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>an adapter cannot be called {name}: choose a name of letters and digits of ASCII, with dots, hyphens and underscores between them</source>
        <translation>ein Adapter kann nicht {name} heißen: bitte einen Namen aus Buchstaben und Ziffern von ASCII wählen, dazwischen Punkte, Binde- und Unterstriche</translation>
    </message>
    <message>
        <source>the captions fall behind the speaker: close other programs, or choose a faster model for speech or translation</source>
        <translation>die Untertitel halten nicht Schritt: Schließen Sie andere Programme, oder wählen Sie ein schnelleres Modell für Spracherkennung oder Übersetzung</translation>
    </message>
    <message>
        <source>the speech model {model} could not be loaded: get it again, or choose another one (detail: {detail})</source>
        <translation>das Spracherkennungsmodell {model} ließ sich nicht laden: bitte neu beschaffen oder ein anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>the speech model in {folder} is not whole: get it again, or choose another one</source>
        <translation>das Spracherkennungsmodell in {folder} ist nicht vollständig: bitte neu beschaffen oder ein anderes wählen</translation>
    </message>
    <message>
        <source>expected a Whisper model for CTranslate2 in {folder}: name another folder (detail: {detail})</source>
        <translation>ein Whisper-Modell für CTranslate2 wurde in {folder} erwartet: bitte einen anderen Ordner nennen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it is damaged; get it again, or choose another one (detail: {detail})</source>
        <translation>beschädigt; bitte neu beschaffen oder etwas anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it is larger than can be read here; choose another one (detail: {detail})</source>
        <translation>größer, als hier gelesen wird; bitte etwas anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it is of no kind that is known here; choose another one (detail: {detail})</source>
        <translation>von einer Art, die hier nicht bekannt ist; bitte etwas anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it asks for code or for files that are never opened here; choose another one (detail: {detail})</source>
        <translation>verlangt Code oder Dateien, die hier nie geöffnet werden; bitte etwas anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it was made for a newer Surtitle; update the program (detail: {detail})</source>
        <translation>für ein neueres Surtitle gemacht; bitte das Programm aktualisieren (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>its weights are a pickle ({name}), which can run code; save them as safetensors</source>
        <translation>die Gewichte sind ein Pickle ({name}), das Code ausführen kann; bitte als safetensors speichern</translation>
    </message>
    <message>
        <source>its weights are a pickle ({name}), which can run code; name the model as on the hub (owner/name), and its safetensors are downloaded, or get them from a branch of it there</source>
        <translation>die Gewichte sind ein Pickle ({name}), das Code ausführen kann; bitte das Modell wie auf huggingface.co nennen (Anbieter/Name), dann werden seine safetensors heruntergeladen, oder sie dort aus einem seiner Zweige holen</translation>
    </message>
    <message>
        <source>it has no {name}; get it again whole, or choose another folder</source>
        <translation>es fehlt {name}; bitte vollständig neu beschaffen oder einen anderen Ordner wählen</translation>
    </message>
    <message>
        <source>its {name} is no plain file; put the file itself there</source>
        <translation>{name} ist keine gewöhnliche Datei; bitte die Datei selbst dorthin legen</translation>
    </message>
    <message>
        <source>its {name} cannot be read ({reason}); see to its permissions, or get it again</source>
        <translation>{name} ist nicht lesbar ({reason}); bitte die Rechte prüfen oder neu beschaffen</translation>
    </message>
    <message>
        <source>its folder cannot be read ({reason}); see to its permissions, or choose another one</source>
        <translation>der Ordner ist nicht lesbar ({reason}); bitte die Rechte prüfen oder einen anderen wählen</translation>
    </message>
    <message>
        <source>it was made for {base}, another model than this; choose that model, or another adapter (detail: {detail})</source>
        <translation>für {base} gemacht, ein anderes Modell als dieses; bitte jenes Modell oder einen anderen Adapter wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it does not fit the model; choose another adapter (detail: {detail})</source>
        <translation>passt nicht zum Modell; bitte einen anderen Adapter wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it was not made for captions such as these; choose another adapter if they are poor (detail: {detail})</source>
        <translation>nicht für solche Untertitel gemacht; sind sie schlecht, bitte einen anderen Adapter wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>it has no {name}, so its base, its slot length, its policies, its languages and where it comes from are not known; choose another adapter if captions are poor</source>
        <translation>es fehlt {name}, darum sind Basis, Slot-Länge, Strategien, Sprachen und Herkunft unbekannt; sind die Untertitel schlecht, bitte einen anderen Adapter wählen</translation>
    </message>
    <message>
        <source>the captions fall behind the speaker: {smaller} is a quicker speech model</source>
        <translation>die Untertitel bleiben hinter dem Gesprochenen zurück: {smaller} ist ein schnelleres Spracherkennungsmodell</translation>
    </message>
    <message>
        <source>the speech model in {folder} could not be loaded: get it again, or choose another one (detail: {detail})</source>
        <translation>das Spracherkennungsmodell in {folder} ließ sich nicht laden: bitte neu beschaffen oder ein anderes wählen (Einzelheit: {detail})</translation>
    </message>
    <message>
        <source>huggingface.co sent a {file} of {name} that is not what it promised: it was thrown away; try again later or choose another model</source>
        <translation>huggingface.co hat für {name} eine Datei {file} gesendet, die nicht die versprochene ist: Sie wurde verworfen; versuchen Sie es später noch einmal, oder wählen Sie ein anderes Modell</translation>
    </message>
    <message>
        <source>{name} cannot be written to {folder}: {reason}; make room there and try again</source>
        <translation>{name} kann nicht nach {folder} geschrieben werden: {reason}; schaffen Sie dort Platz, und versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>{name} is no name of a model on huggingface.co: owner/name was expected</source>
        <translation>{name} ist kein Name eines Modells auf huggingface.co: Anbieter/Name wurde erwartet</translation>
    </message>
    <message>
        <source>{name} is not on this computer, and HF_HUB_OFFLINE forbids to ask huggingface.co: unset it</source>
        <translation>{name} ist nicht auf diesem Computer, und HF_HUB_OFFLINE verbietet, huggingface.co zu fragen: Heben Sie das auf</translation>
    </message>
    <message>
        <source>{name} has no {what} on huggingface.co: choose another model</source>
        <translation>{name} hat auf huggingface.co keine {what}: Wählen Sie ein anderes Modell</translation>
    </message>
    <message>
        <source>{name} cannot be downloaded: the certificate of huggingface.co was refused ({reason}); where your network has a certificate of its own, name its file in SSL_CERT_FILE</source>
        <translation>{name} kann nicht heruntergeladen werden: Das Zertifikat von huggingface.co wurde abgelehnt ({reason}); wenn Ihr Netz ein eigenes Zertifikat hat, nennen Sie dessen Datei in SSL_CERT_FILE</translation>
    </message>
    <message>
        <source>{name} cannot be downloaded from huggingface.co ({reason}): check your connection, and that you have access to it, or choose another model or a model folder</source>
        <translation>huggingface.co gibt {name} nicht her ({reason}): Prüfen Sie Verbindung und Zugang, oder wählen Sie ein anderes Modell oder einen Modellordner</translation>
    </message>
    <message>
        <source>cannot reach {host} ({reason}): check your connection and try again, or choose a model folder on this computer</source>
        <translation>{host} ist nicht erreichbar ({reason}): Prüfen Sie die Verbindung, oder wählen Sie einen Modellordner auf diesem Computer</translation>
    </message>
    <message>
        <source>{name} needs {missing} more in {folder}, and {free} are free: make room and try again</source>
        <translation>{name} braucht noch {missing} in {folder}, und {free} sind frei: Schaffen Sie Platz, und versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>this session cannot be saved in {folder}: {reason}; captions go on, and a crash would lose them</source>
        <translation>diese Sitzung lässt sich nicht in {folder} speichern: {reason}; die Untertitel gehen weiter, ein Absturz würde sie verlieren</translation>
    </message>
    <message>
        <source>{name} cannot be downloaded: a web page came instead of the list of its files; where your network asks you to log in, do so in a browser and try again</source>
        <translation>{name} kann nicht heruntergeladen werden: statt der Liste seiner Dateien kam eine Webseite; wenn Ihr Netz eine Anmeldung verlangt, melden Sie sich im Browser an und versuchen Sie es noch einmal</translation>
    </message>
    <message>
        <source>In use now</source>
        <translation>Wird gerade verwendet</translation>
    </message>
    <message>
        <source>no speech model is called {name}: choose {known}, or name an owner/name on huggingface.co or a folder</source>
        <translation>kein Spracherkennungsmodell heißt {name}: Wählen Sie {known}, oder nennen Sie ein Modell auf huggingface.co (Anbieter/Name) oder einen Ordner</translation>
    </message>
    <message>
        <source>line {number} of the glossary {path} is {line}, and a name, or a term, a tab and its translation were expected: write it so</source>
        <translation>Zeile {number} des Glossars {path} ist {line}, erwartet war ein Name oder ein Begriff, ein Tabulator und seine Übersetzung: bitte so schreiben</translation>
    </message>
    <message>
        <source>{server} cannot be reached ({reason}): start Surtitle&apos;s server there, or check address and network</source>
        <translation>{server} ist nicht erreichbar ({reason}): Starten Sie dort den Server von Surtitle, oder prüfen Sie Adresse und Netzwerk</translation>
    </message>
    <message>
        <source>{server} does not know this token: ask whoever runs it for the right one</source>
        <translation>{server} kennt dieses Token nicht: Fragen Sie nach dem richtigen, wer den Server betreibt</translation>
    </message>
    <message>
        <source>the connection to {server} is not safe ({detail}): name its certificate, or that of its authority, or ask whoever runs it</source>
        <translation>die Verbindung zu {server} ist nicht sicher ({detail}): Nennen Sie sein Zertifikat oder das seiner Zertifizierungsstelle, oder fragen Sie, wer den Server betreibt</translation>
    </message>
    <message>
        <source>as many are connected as it serves</source>
        <translation>es sind schon so viele verbunden, wie er bedient</translation>
    </message>
    <message>
        <source>it is being stopped</source>
        <translation>er wird gerade beendet</translation>
    </message>
    <message>
        <source>too much was asked of it at once</source>
        <translation>es wurde zu viel auf einmal von ihm verlangt</translation>
    </message>
    <message>
        <source>what the server says is not understood ({detail}): run the same version of Surtitle there and here</source>
        <translation>was der Server sagt, ist unverständlich ({detail}): Verwenden Sie dort und hier dieselbe Version von Surtitle</translation>
    </message>
    <message>
        <source>the server should be written https://NAME:PORT, or http://localhost:PORT on this computer or through a tunnel, got {address!r}</source>
        <translation>der Server wird https://NAME:PORT geschrieben, oder http://localhost:PORT auf diesem Computer oder durch einen Tunnel, angegeben war {address!r}</translation>
    </message>
    <message>
        <source>the server could not translate a sentence to its end ({reason}): it stays as it is and the next ones are translated</source>
        <translation>der Server konnte einen Satz nicht zu Ende übersetzen ({reason}): Er bleibt, wie er ist, und die nächsten werden übersetzt</translation>
    </message>
</context>
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Surtitle</source>
        <translation>Über Surtitle</translation>
    </message>
    <message>
        <source>Live translated captions on your own computer. Nothing leaves it.</source>
        <translation>Live übersetzte Untertitel auf Ihrem eigenen Computer. Nichts verlässt ihn.</translation>
    </message>
    <message>
        <source>Parts and licences</source>
        <translation>Bestandteile und Lizenzen</translation>
    </message>
    <message>
        <source>&amp;Parts and licences</source>
        <translation>&amp;Bestandteile und Lizenzen</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>Surtitle, not installed</source>
        <translation>Surtitle, nicht installiert</translation>
    </message>
    <message>
        <source>Translation model {name}: {licence}</source>
        <translation>Übersetzungsmodell {name}: {licence}</translation>
    </message>
    <message>
        <source>Adapter {name}: {licence}</source>
        <translation>Adapter {name}: {licence}</translation>
    </message>
    <message>
        <source>Icons Lucide: ISC, some MIT (below)</source>
        <translation>Symbole Lucide: ISC, einige MIT (siehe unten)</translation>
    </message>
    <message>
        <source>see its package</source>
        <translation>siehe Paket</translation>
    </message>
</context>
<context>
    <name>Actions</name>
    <message>
        <source>&amp;Export captions…</source>
        <translation>Untertitel &amp;exportieren …</translation>
    </message>
    <message>
        <source>Earlier &amp;sessions…</source>
        <translation>Frühere &amp;Sitzungen …</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Pause</translation>
    </message>
    <message>
        <source>&amp;New session</source>
        <translation>&amp;Neue Sitzung</translation>
    </message>
    <message>
        <source>&amp;Clear the overlay</source>
        <translation>Einblendung &amp;leeren</translation>
    </message>
    <message>
        <source>&amp;Find…</source>
        <translation>&amp;Suchen …</translation>
    </message>
    <message>
        <source>&amp;Overlay</source>
        <translation>&amp;Einblendung</translation>
    </message>
    <message>
        <source>&amp;Microphone</source>
        <translation>&amp;Mikrofon</translation>
    </message>
    <message>
        <source>&amp;Open audio or video file…</source>
        <translation>Audio- oder Videodatei ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>Computer &amp;sound</source>
        <translation>&amp;Computerton</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>Copy &amp;all</source>
        <translation>&amp;Alles kopieren</translation>
    </message>
    <message>
        <source>Copy all &amp;captions</source>
        <translation>Alle Unter&amp;titel kopieren</translation>
    </message>
    <message>
        <source>&amp;Bookmark</source>
        <translation>&amp;Lesezeichen</translation>
    </message>
    <message>
        <source>&amp;Next bookmark</source>
        <translation>&amp;Nächstes Lesezeichen</translation>
    </message>
    <message>
        <source>Pre&amp;vious bookmark</source>
        <translation>&amp;Voriges Lesezeichen</translation>
    </message>
    <message>
        <source>Larger transcript te&amp;xt</source>
        <translation>&amp;Größere Schrift der Mitschrift</translation>
    </message>
    <message>
        <source>Smalle&amp;r transcript text</source>
        <translation>&amp;Kleinere Schrift der Mitschrift</translation>
    </message>
    <message>
        <source>&amp;Larger text</source>
        <translation>&amp;Größerer Text</translation>
    </message>
    <message>
        <source>&amp;Smaller text</source>
        <translation>&amp;Kleinerer Text</translation>
    </message>
    <message>
        <source>&amp;Back to the bottom of the screen</source>
        <translation>&amp;Zurück an den unteren Bildschirmrand</translation>
    </message>
    <message>
        <source>Translation &amp;models…</source>
        <translation>Übersetzungs&amp;modelle …</translation>
    </message>
    <message>
        <source>&amp;Adapters…</source>
        <translation>&amp;Adapter …</translation>
    </message>
    <message>
        <source>&amp;Glossary…</source>
        <translation>&amp;Glossar …</translation>
    </message>
    <message>
        <source>S&amp;hare captions…</source>
        <translation>Untertitel fr&amp;eigeben …</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <translation>&amp;Einstellungen …</translation>
    </message>
    <message>
        <source>&amp;Set up Surtitle…</source>
        <translation>Surtitle ein&amp;richten …</translation>
    </message>
    <message>
        <source>&amp;About Surtitle</source>
        <translation>Ü&amp;ber Surtitle</translation>
    </message>
    <message>
        <source>&amp;Copy diagnostics</source>
        <translation>&amp;Diagnose kopieren</translation>
    </message>
    <message>
        <source>&amp;Hide overlay</source>
        <translation>Einblendung &amp;ausblenden</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <source>A&amp;dvanced</source>
        <translation>Er&amp;weitert</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <source>&amp;Captions</source>
        <translation>&amp;Untertitel</translation>
    </message>
    <message>
        <source>O&amp;verlay</source>
        <translation>&amp;Einblendung</translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <translation>E&amp;xtras</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <source>Loc&amp;k overlay (clicks go through)</source>
        <translation>Einblendung &amp;sperren (Klicks gehen hindurch)</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Entsperren</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Lock (clicks go through)</source>
        <translation>Sperren (Klicks gehen hindurch)</translation>
    </message>
    <message>
        <source>P&amp;rojector view</source>
        <translation>P&amp;rojektoransicht</translation>
    </message>
</context>
<context>
    <name>AdapterDialog</name>
    <message>
        <source>Adapters</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>&amp;More</source>
        <translation>&amp;Mehr</translation>
    </message>
    <message>
        <source>The adapter {} translates now</source>
        <translation>Der Adapter {} übersetzt jetzt</translation>
    </message>
    <message>
        <source>&amp;Unload</source>
        <translation>&amp;Entladen</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>E&amp;ntfernen</translation>
    </message>
    <message>
        <source>&amp;Translate without an adapter</source>
        <translation>Ohne Adapter &amp;übersetzen</translation>
    </message>
    <message>
        <source>&amp;Add…</source>
        <translation>&amp;Hinzufügen …</translation>
    </message>
    <message>
        <source>An adapter tunes the translator for a purpose, such as talks. Tick the one that is to translate; drop a folder here to add one.</source>
        <translation>Ein Adapter stimmt den Übersetzer auf einen Zweck ab, etwa auf Vorträge. Setzen Sie den Haken bei dem, der übersetzen soll; ziehen Sie einen Ordner hierher, um einen hinzuzufügen.</translation>
    </message>
    <message>
        <source>There is no adapter yet.</source>
        <translation>Noch gibt es keinen Adapter.</translation>
    </message>
    <message>
        <source>Trained for another timing than the one in use, so captions may be worse; the button at the lower right of the window changes the timing.</source>
        <translation>Für ein anderes Tempo trainiert als das gewählte; die Untertitel können dadurch schlechter werden. Die Schaltfläche unten rechts im Hauptfenster ändert das Tempo.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>With this model</source>
        <translation>Mit diesem Modell</translation>
    </message>
    <message>
        <source>Languages</source>
        <translation>Sprachen</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>Jetzt</translation>
    </message>
    <message>
        <source>Works</source>
        <translation>Geht</translation>
    </message>
    <message>
        <source>May work</source>
        <translation>Geht vielleicht</translation>
    </message>
    <message>
        <source>Does not work</source>
        <translation>Geht nicht</translation>
    </message>
    <message>
        <source>{} to {}</source>
        <translation>{} nach {}</translation>
    </message>
    <message>
        <source>translates</source>
        <translation>übersetzt</translation>
    </message>
    <message>
        <source>loaded</source>
        <translation>geladen</translation>
    </message>
    <message>
        <source>The adapter {} is being loaded; captions go on</source>
        <translation>Der Adapter {} wird geladen; die Untertitel laufen weiter</translation>
    </message>
    <message>
        <source>Working…</source>
        <translation>Einen Moment …</translation>
    </message>
    <message>
        <source>Folder of an adapter</source>
        <translation>Ordner eines Adapters</translation>
    </message>
</context>
<context>
    <name>AdapterService</name>
    <message>
        <source>The adapter {} was added</source>
        <translation>Der Adapter {} wurde hinzugefügt</translation>
    </message>
    <message>
        <source>The adapter {} was removed</source>
        <translation>Der Adapter {} wurde entfernt</translation>
    </message>
</context>
<context>
    <name>AdvancedPage</name>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>The page is not open</source>
        <translation>Die Seite ist nicht geöffnet</translation>
    </message>
    <message>
        <source>Caption &amp;page for OBS</source>
        <translation>Untertitelseite für &amp;OBS</translation>
    </message>
    <message>
        <source>A browser source; its address holds a secret.</source>
        <translation>Eine Browserquelle; ihre Adresse enthält ein Geheimnis.</translation>
    </message>
    <message>
        <source>Only this computer can open it. Treat the address like a password.</source>
        <translation>Nur dieser Computer kann sie öffnen. Behandeln Sie die Adresse wie ein Passwort.</translation>
    </message>
    <message>
        <source>Po&amp;rt</source>
        <translation>Po&amp;rt</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Cop&amp;y</source>
        <translation>Kop&amp;ieren</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>Copy the address of the caption page</source>
        <translation>Adresse der Untertitelseite kopieren</translation>
    </message>
    <message>
        <source>Open the caption page in the browser</source>
        <translation>Untertitelseite im Browser öffnen</translation>
    </message>
    <message>
        <source>Kept sessions</source>
        <translation>Gespeicherte Sitzungen</translation>
    </message>
    <message>
        <source>Open fol&amp;der</source>
        <translation>Ordner öff&amp;nen</translation>
    </message>
    <message>
        <source>The address was copied. Everybody who knows it can read the captions.</source>
        <translation>Die Adresse ist kopiert. Wer sie kennt, kann die Untertitel lesen.</translation>
    </message>
</context>
<context>
    <name>Application</name>
    <message>
        <source>Surtitle crashed last time; Help, Copy diagnostics says how</source>
        <translation>Surtitle ist beim letzten Mal abgestürzt; Hilfe, Diagnose kopieren sagt, wie</translation>
    </message>
    <message>
        <source>No font here has the letters of {}, so captions would be rows of boxes; install one that has them, for example Noto</source>
        <translation>Auf diesem Computer fehlt eine Schrift für {}, die Untertitel bestünden nur aus Kästchen; installieren Sie eine, zum Beispiel Noto</translation>
    </message>
    <message>
        <source>Diagnostics copied. They contain no spoken or translated text.</source>
        <translation>Diagnose kopiert. Sie enthält keinen gesprochenen oder übersetzten Text.</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>Try a&amp;gain</source>
        <translation>Er&amp;neut versuchen</translation>
    </message>
    <message>
        <source>&amp;Dismiss</source>
        <translation>&amp;Verstanden</translation>
    </message>
    <message>
        <source>{}… You can type already.</source>
        <translation>{} … Sie können schon tippen.</translation>
    </message>
    <message>
        <source>A&amp;nother model or folder…</source>
        <translation>Anderes &amp;Modell oder Ordner …</translation>
    </message>
</context>
<context>
    <name>BrowserSource</name>
    <message>
        <source>The caption page could not be opened at port {}: {}; choose another port in the settings</source>
        <translation>Die Untertitelseite konnte an Port {} nicht geöffnet werden: {}; in den Einstellungen einen anderen wählen</translation>
    </message>
</context>
<context>
    <name>CaptionChoices</name>
    <message>
        <source>Translate &amp;to</source>
        <translation>Ü&amp;bersetzen in</translation>
    </message>
    <message>
        <source>T&amp;iming</source>
        <translation>&amp;Tempo</translation>
    </message>
    <message>
        <source>Translate</source>
        <translation>Übersetzen</translation>
    </message>
    <message>
        <source>Captions in another language</source>
        <translation>Untertitel in einer anderen Sprache</translation>
    </message>
    <message>
        <source>Captions of what is said; nothing is translated</source>
        <translation>Untertitel in der gesprochenen Sprache, ohne Übersetzung</translation>
    </message>
    <message>
        <source>Both languages</source>
        <translation>Beide Sprachen</translation>
    </message>
    <message>
        <source>What is said, above its translation</source>
        <translation>Das Gesagte, darunter die Übersetzung</translation>
    </message>
    <message>
        <source>&amp;Everything</source>
        <translation>&amp;Alles</translation>
    </message>
    <message>
        <source>&amp;Another computer…</source>
        <translation>&amp;Anderer Computer …</translation>
    </message>
    <message>
        <source>Its address, and the token it asks for</source>
        <translation>Seine Adresse und das Token, nach dem er fragt</translation>
    </message>
    <message>
        <source>It translates; words and captions go there, sound does not</source>
        <translation>Er übersetzt; Wörter und Untertitel gehen dorthin, Ton nicht</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message>
        <source>Nothing leaves it</source>
        <translation>Nichts verlässt ihn</translation>
    </message>
    <message>
        <source>{} captions</source>
        <translation>Untertitel: {}</translation>
    </message>
    <message>
        <source>The model alone</source>
        <translation>Das Modell allein</translation>
    </message>
    <message>
        <source>&amp;More languages…</source>
        <translation>&amp;Weitere Sprachen …</translation>
    </message>
    <message>
        <source>Sh&amp;ow</source>
        <translation>&amp;Zeigen</translation>
    </message>
    <message>
        <source>Comp&amp;uted on</source>
        <translation>Berechnet a&amp;uf</translation>
    </message>
    <message>
        <source>No translation</source>
        <translation>Keine Übersetzung</translation>
    </message>
    <message>
        <source>Shows all translation models</source>
        <translation>Zeigt alle Übersetzungsmodelle</translation>
    </message>
    <message>
        <source>B&amp;etter for</source>
        <translation>Besser &amp;für</translation>
    </message>
    <message>
        <source>Second la&amp;nguage</source>
        <translation>Zweite Sp&amp;rache</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
</context>
<context>
    <name>CaptionController</name>
    <message>
        <source>Deleted from the transcript and from the kept session</source>
        <translation>Aus der Mitschrift und der gespeicherten Sitzung gelöscht</translation>
    </message>
    <message>
        <source>This does not look like English, and is not translated: {}</source>
        <translation>Das sieht nicht nach Englisch aus und wird nicht übersetzt: {}</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>&amp;Rückgängig</translation>
    </message>
    <message>
        <source>The line takes {} characters at once, so the end of the text was left out; paste it next, or translate a whole file in the terminal with: surtitle translate FILE</source>
        <translation>Die Zeile nimmt {} Zeichen auf einmal, das Ende des Textes fehlt daher; fügen Sie es als Nächstes ein, oder übersetzen Sie eine ganze Datei im Terminal mit: surtitle translate DATEI</translation>
    </message>
    <message>
        <source>This looks like {other}, but captions are translated from {expected}, so they may make no sense; go on in {expected}, or choose No translation</source>
        <translation>Das sieht nach {other} aus, erwartet wird aber {expected}: Die Untertitel ergeben vielleicht keinen Sinn; fahren Sie auf {expected} fort, oder wählen Sie „Keine Übersetzung“</translation>
    </message>
    <message>
        <source>New session started</source>
        <translation>Neue Sitzung begonnen</translation>
    </message>
    <message>
        <source>New session started; the one before could not be saved: undo to export it</source>
        <translation>Neue Sitzung begonnen; die vorige ließ sich nicht speichern: rückgängig machen, um sie zu exportieren</translation>
    </message>
    <message>
        <source>Start a new session first: the captions of this one are not saved</source>
        <translation>Beginnen Sie erst eine neue Sitzung: Die Untertitel dieser Sitzung werden nicht gespeichert</translation>
    </message>
</context>
<context>
    <name>CaptionPreview</name>
    <message>
        <source>Preview of the captions</source>
        <translation>Vorschau der Untertitel</translation>
    </message>
</context>
<context>
    <name>CaptionsPage</name>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>&amp;Font</source>
        <translation>Schrift&amp;art</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>A small ? before them</source>
        <translation>Ein kleines ? davor</translation>
    </message>
    <message>
        <source>S&amp;creen readers say each finished caption</source>
        <translation>Bildschir&amp;mleser sagen jeden fertigen Untertitel</translation>
    </message>
    <message>
        <source>They, or a Braille line, say it wherever the focus is.</source>
        <translation>Sie oder eine Braillezeile sagen ihn, wo auch immer der Fokus ist.</translation>
    </message>
    <message>
        <source>Smooth sc&amp;rolling</source>
        <translation>Sanftes Scro&amp;llen</translation>
    </message>
    <message>
        <source>White on black</source>
        <translation>Weiß auf Schwarz</translation>
    </message>
    <message>
        <source>Yellow on black</source>
        <translation>Gelb auf Schwarz</translation>
    </message>
    <message>
        <source>Black on white</source>
        <translation>Schwarz auf Weiß</translation>
    </message>
    <message>
        <source>High contrast</source>
        <translation>Hoher Kontrast</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>White</source>
        <translation>Weiß</translation>
    </message>
    <message>
        <source>Yellow</source>
        <translation>Gelb</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>Grün</translation>
    </message>
    <message>
        <source>Light blue</source>
        <translation>Hellblau</translation>
    </message>
    <message>
        <source>Orange</source>
        <translation>Orange</translation>
    </message>
    <message>
        <source>Pink</source>
        <translation>Rosa</translation>
    </message>
    <message>
        <source>Black</source>
        <translation>Schwarz</translation>
    </message>
    <message>
        <source>Dark grey</source>
        <translation>Dunkelgrau</translation>
    </message>
    <message>
        <source>Dark blue</source>
        <translation>Dunkelblau</translation>
    </message>
    <message>
        <source>Dark green</source>
        <translation>Dunkelgrün</translation>
    </message>
    <message>
        <source>Dark red</source>
        <translation>Dunkelrot</translation>
    </message>
    <message>
        <source>&amp;Text</source>
        <translation>&amp;Text</translation>
    </message>
    <message>
        <source>&amp;Box</source>
        <translation>&amp;Hintergrund</translation>
    </message>
    <message>
        <source>O&amp;pacity of the box</source>
        <translation>&amp;Deckkraft des Hintergrunds</translation>
    </message>
    <message>
        <source>Hard to read: choose colours that differ more, or a less transparent box.</source>
        <translation>Schwer zu lesen: Wählen Sie Farben, die sich stärker unterscheiden, oder einen weniger durchsichtigen Hintergrund.</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>L&amp;ines</source>
        <translation>Ze&amp;ilen</translation>
    </message>
    <message>
        <source>C&amp;haracters in a line</source>
        <translation>Zeichen &amp;je Zeile</translation>
    </message>
    <message>
        <source>Subtitles have 42; the window fits the screen in any case.</source>
        <translation>Üblich sind 42; das Fenster passt immer auf den Bildschirm.</translation>
    </message>
    <message>
        <source>Overlay</source>
        <translation>Einblendung</translation>
    </message>
    <message>
        <source>Hi&amp;de after silence</source>
        <translation>Bei Stille ausbl&amp;enden</translation>
    </message>
    <message>
        <source>The overlay comes back with the next caption.</source>
        <translation>Mit dem nächsten Untertitel erscheint die Einblendung wieder.</translation>
    </message>
    <message>
        <source> s</source>
        <translation> s</translation>
    </message>
    <message>
        <source>&amp;You (microphone)</source>
        <translation>&amp;Sie (Mikrofon)</translation>
    </message>
    <message>
        <source>The oth&amp;ers (computer sound)</source>
        <translation>Die anderen (&amp;Computerton)</translation>
    </message>
    <message>
        <source>Loc&amp;ked: clicks go through to the window below</source>
        <translation>Gespe&amp;rrt: Klicks gehen hindurch</translation>
    </message>
    <message>
        <source>Translate</source>
        <translation>Übersetzen</translation>
    </message>
    <message>
        <source>Both languages</source>
        <translation>Beide Sprachen</translation>
    </message>
    <message>
        <source>No translation</source>
        <translation>Keine Übersetzung</translation>
    </message>
    <message>
        <source>Do&amp;ubtful captions</source>
        <translation>Zwei&amp;felhafte Untertitel</translation>
    </message>
    <message>
        <source>Co&amp;lour scheme</source>
        <translation>Far&amp;bschema</translation>
    </message>
    <message>
        <source>Never</source>
        <translation>Nie</translation>
    </message>
    <message>
        <source>Ctrl+K in the main window, or the tray, unlocks it again.</source>
        <translation>Strg+K im Hauptfenster oder das Symbol neben der Uhr entsperrt sie wieder.</translation>
    </message>
    <message>
        <source>Hide from screen sharin&amp;g</source>
        <translation>Beim Teilen des Bildschirms &amp;verbergen</translation>
    </message>
    <message>
        <source>Others do not see the overlay when you share or record your screen.</source>
        <translation>Andere sehen die Einblendung nicht, wenn Sie Ihren Bildschirm teilen oder aufnehmen.</translation>
    </message>
    <message>
        <source>Windows and macOS can do that; on Linux no window can ask for it.</source>
        <translation>Windows und macOS können das; Linux bietet es Programmen nicht an.</translation>
    </message>
    <message>
        <source>On &amp;Wayland, go through XWayland</source>
        <translation>Unter &amp;Wayland XWayland verwenden</translation>
    </message>
    <message>
        <source>Then the overlay stays above other windows, where you put it; on some scaled screens letters are less sharp. Takes effect when Surtitle is started again.</source>
        <translation>Dann bleibt die Einblendung über anderen Fenstern, wo Sie sie hingesetzt haben; auf manchen vergrößerten Bildschirmen sind Buchstaben weniger scharf. Gilt nach dem nächsten Start von Surtitle.</translation>
    </message>
    <message>
        <source>Speakers</source>
        <translation>Sprecher</translation>
    </message>
    <message>
        <source> pt</source>
        <translation> pt</translation>
    </message>
    <message>
        <source>Captions and overlay</source>
        <translation>Untertitel</translation>
    </message>
    <message>
        <source>&amp;Show</source>
        <translation>&amp;Zeigen</translation>
    </message>
    <message>
        <source>Text si&amp;ze</source>
        <translation>Text&amp;größe</translation>
    </message>
    <message>
        <source>&amp;Outline around letters</source>
        <translation>&amp;Umriss um die Buchstaben</translation>
    </message>
    <message>
        <source>If your system is set to reduce motion, lines jump instead.</source>
        <translation>Wenn Ihr System Bewegung reduziert, springen die Zeilen stattdessen.</translation>
    </message>
    <message>
        <source>(?) after them</source>
        <translation>(?) dahinter</translation>
    </message>
    <message>
        <source>Captions that the model is not sure of, if it can tell.</source>
        <translation>Untertitel, bei denen das Modell unsicher ist, sofern es das sagen kann.</translation>
    </message>
    <message>
        <source>Same as the window</source>
        <translation>Wie im Fenster</translation>
    </message>
    <message>
        <source>From colour scheme</source>
        <translation>Wie im Farbschema</translation>
    </message>
    <message>
        <source>{} % (colour scheme)</source>
        <translation>{} % (Farbschema)</translation>
    </message>
</context>
<context>
    <name>ChildCommand</name>
    <message>
        <source>The check crashed (signal {}). Captions are not affected</source>
        <translation>Die Prüfung ist abgestürzt (Signal {}). Die Untertitel sind nicht betroffen</translation>
    </message>
    <message>
        <source>The check ended with an error</source>
        <translation>Die Prüfung endete mit einem Fehler</translation>
    </message>
    <message>
        <source>The check could not be started</source>
        <translation>Die Prüfung ließ sich nicht starten</translation>
    </message>
    <message>
        <source>The check did not answer within {:.0f} seconds and was ended</source>
        <translation>Die Prüfung hat {:.0f} Sekunden lang nicht geantwortet und wurde beendet</translation>
    </message>
</context>
<context>
    <name>CodeView</name>
    <message>
        <source>Code for the phones in the room</source>
        <translation>Code für die Handys im Raum</translation>
    </message>
    <message>
        <source>QR code of the address</source>
        <translation>QR-Code der Adresse</translation>
    </message>
</context>
<context>
    <name>ControlPanel</name>
    <message>
        <source>Pause the captions; typed text is kept</source>
        <translation>Die Untertitel anhalten; Getipptes bleibt</translation>
    </message>
    <message>
        <source>Show the captions above all other windows</source>
        <translation>Die Untertitel über allen Fenstern zeigen</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Caption what is said into the microphone</source>
        <translation>Untertitelt, was Sie ins Mikrofon sprechen</translation>
    </message>
    <message>
        <source>Mi&amp;crophone in use</source>
        <translation>&amp;Verwendetes Mikrofon</translation>
    </message>
    <message>
        <source>Computer sound &amp;from</source>
        <translation>Computerton &amp;aus</translation>
    </message>
    <message>
        <source>Computer sound</source>
        <translation>Computerton</translation>
    </message>
    <message>
        <source>Caption the sound that the computer plays</source>
        <translation>Untertitelt, was der Computer wiedergibt</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Overlay</source>
        <translation>Einblendung</translation>
    </message>
</context>
<context>
    <name>CorrectionController</name>
    <message>
        <source>Always write “{}”?</source>
        <translation>Immer „{}“ schreiben?</translation>
    </message>
    <message>
        <source>&amp;Always</source>
        <translation>&amp;Immer</translation>
    </message>
</context>
<context>
    <name>DesktopLinks</name>
    <message>
        <source>There is no folder {} yet</source>
        <translation>Den Ordner {} gibt es noch nicht</translation>
    </message>
    <message>
        <source>Your desktop has no program that opens it; it is {}</source>
        <translation>Kein Programm auf diesem Computer öffnet das; es liegt hier: {}</translation>
    </message>
</context>
<context>
    <name>Devices</name>
    <message>
        <source>Default microphone</source>
        <translation>Standardmikrofon</translation>
    </message>
    <message>
        <source>Default output</source>
        <translation>Standardausgang</translation>
    </message>
    <message>
        <source>{} (muted)</source>
        <translation>{} (stumm)</translation>
    </message>
</context>
<context>
    <name>DownloadBar</name>
    <message>
        <source>Ca&amp;ncel</source>
        <translation>A&amp;bbrechen</translation>
    </message>
    <message>
        <source>The download will resume from here next time</source>
        <translation>Beim nächsten Mal geht es von hier aus weiter</translation>
    </message>
    <message>
        <source>Downloading {} from huggingface.co</source>
        <translation>{} wird von huggingface.co heruntergeladen</translation>
    </message>
    <message>
        <source>{:,} of {:,} MB</source>
        <translation>{:,} von {:,} MB</translation>
    </message>
    <message>
        <source>nothing arrives at the moment</source>
        <translation>im Moment kommt nichts an</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Choose a f&amp;older…</source>
        <translation>&amp;Ordner wählen …</translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <translation>&amp;Herunterladen</translation>
    </message>
    <message>
        <source>Download stopped. It will resume from here next time.</source>
        <translation>Der Download wurde angehalten. Beim nächsten Mal geht es hier weiter.</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>Er&amp;neut versuchen</translation>
    </message>
</context>
<context>
    <name>EmptyPage</name>
    <message>
        <source>Switch on the microphone or computer sound, or type below.</source>
        <translation>Schalten Sie das Mikrofon oder den Computerton ein, oder tippen Sie unten.</translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <translation>&amp;Herunterladen</translation>
    </message>
    <message>
        <source>Choose a&amp;nother…</source>
        <translation>&amp;Anderes wählen …</translation>
    </message>
    <message>
        <source>Captions appear here as soon as something is said.</source>
        <translation>Hier erscheinen Untertitel, sobald etwas gesagt wird.</translation>
    </message>
    <message>
        <source>Paused. Click Resume to go on.</source>
        <translation>Angehalten. „Fortsetzen“ macht weiter.</translation>
    </message>
</context>
<context>
    <name>ExampleCaption</name>
    <message>
        <source>Example</source>
        <translation>Beispiel</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export captions</source>
        <translation>Untertitel exportieren</translation>
    </message>
    <message>
        <source>Subtitles (SRT)</source>
        <translation>Untertitel (SRT)</translation>
    </message>
    <message>
        <source>Subtitles for the web (WebVTT)</source>
        <translation>Untertitel fürs Web (WebVTT)</translation>
    </message>
    <message>
        <source>Plain text, without times</source>
        <translation>Reiner Text, ohne Zeiten</translation>
    </message>
    <message>
        <source>Captions</source>
        <translation>Untertitel</translation>
    </message>
    <message>
        <source>From the first caption</source>
        <translation>Ab dem ersten Untertitel</translation>
    </message>
    <message>
        <source>From the start of the session</source>
        <translation>Ab dem Beginn der Sitzung</translation>
    </message>
    <message>
        <source>Mark &amp;doubtful captions with (?)</source>
        <translation>Z&amp;weifelhafte Untertitel mit (?) kennzeichnen</translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions</source>
        <translation>
            <numerusform>%Ln Untertitel</numerusform>
            <numerusform>%Ln Untertitel</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions were written to {}</source>
        <translation>
            <numerusform>%Ln Untertitel steht jetzt in {}</numerusform>
            <numerusform>%Ln Untertitel stehen jetzt in {}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{} lacks %Ln captions</source>
        <translation>
            <numerusform>{} fehlt bei %Ln Untertitel</numerusform>
            <numerusform>{} fehlt bei %Ln Untertiteln</numerusform>
        </translation>
    </message>
    <message>
        <source>captions</source>
        <translation>Untertitel</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>&amp;Exportieren …</translation>
    </message>
    <message>
        <source>&amp;Format</source>
        <translation>&amp;Format</translation>
    </message>
    <message>
        <source>C&amp;ontent</source>
        <translation>&amp;Inhalt</translation>
    </message>
    <message>
        <source>&amp;Times</source>
        <translation>&amp;Zeiten</translation>
    </message>
    <message>
        <source>JSON Lines (everything)</source>
        <translation>JSON Lines (alles)</translation>
    </message>
    <message>
        <source>Original</source>
        <translation>Original</translation>
    </message>
    <message>
        <source>Original above translation</source>
        <translation>Original über der Übersetzung</translation>
    </message>
    <message>
        <source>Clock time</source>
        <translation>Uhrzeit</translation>
    </message>
    <message>
        <source>{} alone</source>
        <translation>{} allein</translation>
    </message>
    <message>
        <source>All languages</source>
        <translation>Alle Sprachen</translation>
    </message>
</context>
<context>
    <name>FailedStart</name>
    <message>
        <source>Surtitle could not open its window.</source>
        <translation>Surtitle konnte sein Fenster nicht öffnen.</translation>
    </message>
    <message>
        <source>The reason: {}.</source>
        <translation>Der Grund: {}.</translation>
    </message>
    <message>
        <source>Start it again. If that does not help, try surtitle --reset-places, which forgets where its windows stood. The log says more: {}</source>
        <translation>Starten Sie es neu. Hilft das nicht, versuchen Sie surtitle --reset-places, das vergisst, wo die Fenster standen. Mehr steht im Protokoll: {}</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>Find in the transcript</source>
        <translation>In der Mitschrift suchen</translation>
    </message>
    <message>
        <source>&amp;Up</source>
        <translation>Auf&amp;wärts</translation>
    </message>
    <message>
        <source>Do&amp;wn</source>
        <translation>A&amp;bwärts</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>Suche schließen</translation>
    </message>
    <message>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
</context>
<context>
    <name>FurtherController</name>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Captions in one language</source>
        <translation>Untertitel in einer Sprache</translation>
    </message>
    <message>
        <source>twice the computing, no more memory</source>
        <translation>doppelte Rechenzeit, kein zusätzlicher Speicher</translation>
    </message>
    <message>
        <source>{} more memory, twice the computing</source>
        <translation>{} zusätzlicher Speicher, doppelte Rechenzeit</translation>
    </message>
    <message>
        <source>{} more memory, {:.0f} % of the time</source>
        <translation>{} zusätzlicher Speicher, {:.0f} % der Zeit</translation>
    </message>
    <message>
        <source>{} stands below the captions; these never wait for it</source>
        <translation>{} steht unter den Untertiteln; diese warten nie darauf</translation>
    </message>
    <message numerus="yes">
        <source>{} leaves out %Ln sentences for now</source>
        <translation>
            <numerusform>{} lässt vorerst %Ln Satz aus</numerusform>
            <numerusform>{} lässt vorerst %Ln Sätze aus</numerusform>
        </translation>
    </message>
    <message>
        <source>There are no captions in {}. {} Captions go on in {}.</source>
        <translation>Es gibt keine Untertitel auf {}. {} Die Untertitel gehen auf {} weiter.</translation>
    </message>
</context>
<context>
    <name>GeneralPage</name>
    <message>
        <source>General</source>
        <translation>Allgemein</translation>
    </message>
    <message>
        <source>Display &amp;language</source>
        <translation>&amp;Anzeigesprache</translation>
    </message>
    <message>
        <source>The windows change to this language when Surtitle is started again.</source>
        <translation>Die Fenster wechseln zu dieser Sprache, sobald Surtitle neu gestartet wird.</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>&amp;Appearance</source>
        <translation>A&amp;ussehen</translation>
    </message>
    <message>
        <source> %</source>
        <translation> %</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Surtitle sends no text, sound or statistics to anyone, and does not look for updates.</source>
        <translation>Surtitle sendet niemandem Text, Ton oder Statistiken und sucht nicht nach Aktualisierungen.</translation>
    </message>
    <message>
        <source>&amp;Keep sessions, so that a crash costs one sentence at most</source>
        <translation>Sitzungen &amp;behalten, damit ein Absturz höchstens einen Satz kostet</translation>
    </message>
    <message>
        <source>&amp;Delete them after</source>
        <translation>&amp;Löschen nach</translation>
    </message>
    <message numerus="yes">
        <source> days</source>
        <translation>
            <numerusform> Tag</numerusform>
            <numerusform> Tagen</numerusform>
        </translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Wie im System</translation>
    </message>
    <message>
        <source>&amp;Transcript text size</source>
        <translation>&amp;Textgröße der Mitschrift</translation>
    </message>
</context>
<context>
    <name>GlossaryController</name>
    <message>
        <source>A model that was not trained for Surtitle is told the terms before each sentence. Its adapter may never have seen a glossary in training, so captions may become worse. Try it with and without.</source>
        <translation>Einem Modell, das nicht für Surtitle trainiert wurde, werden die Begriffe vor jedem Satz genannt. Sein Adapter hat im Training vielleicht nie ein Glossar gesehen, also können die Untertitel schlechter werden. Probieren Sie es mit und ohne.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln terms cost {:,} tokens of the prompt, computed once</source>
        <translation>
            <numerusform>%Ln Begriff kostet {:,} Token des Prompts, einmal berechnet</numerusform>
            <numerusform>%Ln Begriffe kosten {:,} Token des Prompts, einmal berechnet</numerusform>
        </translation>
    </message>
    <message>
        <source>A large instruct model can follow a glossary; whether this one does was not measured. Try it with and without.</source>
        <translation>Ein großes Instruct-Modell kann einem Glossar folgen; ob dieses es tut, wurde nicht gemessen. Probieren Sie es mit und ohne.</translation>
    </message>
    <message>
        <source>The terms are not in use</source>
        <translation>Die Begriffe werden nicht verwendet</translation>
    </message>
    <message numerus="yes">
        <source>%Ln terms are in use; they don&apos;t slow the translation</source>
        <translation>
            <numerusform>%Ln Begriff wird verwendet; er bremst die Übersetzung nicht</numerusform>
            <numerusform>%Ln Begriffe werden verwendet; sie bremsen die Übersetzung nicht</numerusform>
        </translation>
    </message>
    <message>
        <source>A translation is used exactly as written here, in place of the model&apos;s own word for the term. The article before it stays as the model chose it.</source>
        <translation>Eine Übersetzung steht genau so da, wie sie hier geschrieben ist, anstelle des Wortes, das das Modell selbst für den Begriff hat. Der Artikel davor bleibt der des Modells.</translation>
    </message>
</context>
<context>
    <name>GlossaryDialog</name>
    <message>
        <source>&amp;Add</source>
        <translation>&amp;Hinzufügen</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation>&amp;Importieren …</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <translation>E&amp;xportieren …</translation>
    </message>
    <message>
        <source>Glossary: {} to {}</source>
        <translation>Glossar: {} nach {}</translation>
    </message>
    <message>
        <source>The glossary was written to {}</source>
        <translation>Das Glossar wurde nach {} geschrieben</translation>
    </message>
    <message>
        <source>Glossary</source>
        <translation>Glossar</translation>
    </message>
    <message>
        <source>Term</source>
        <translation>Begriff</translation>
    </message>
    <message>
        <source>Its translation</source>
        <translation>Seine Übersetzung</translation>
    </message>
    <message>
        <source>Row {}: {}</source>
        <translation>Zeile {}: {}</translation>
    </message>
    <message>
        <source>term or translation has more than {} characters: shorten it</source>
        <translation>Begriff oder Übersetzung hat mehr als {} Zeichen: bitte kürzen</translation>
    </message>
    <message>
        <source>it contains a tab or a line break: write it on one line</source>
        <translation>ein Tabulator oder Zeilenumbruch steht darin: bitte in eine Zeile schreiben</translation>
    </message>
    <message>
        <source>a term must not begin with #, which begins a comment in the file</source>
        <translation>ein Begriff darf nicht mit # beginnen, das in der Datei einen Kommentar beginnt</translation>
    </message>
    <message>
        <source>this term is already in a row above: remove one of them</source>
        <translation>dieser Begriff steht schon in einer Zeile darüber: bitte eine der beiden entfernen</translation>
    </message>
    <message>
        <source>more than {} terms are too many: remove some</source>
        <translation>mehr als {} Begriffe sind zu viele: bitte einige entfernen</translation>
    </message>
    <message>
        <source>Import a glossary</source>
        <translation>Glossar importieren</translation>
    </message>
    <message>
        <source>Export the glossary</source>
        <translation>Glossar exportieren</translation>
    </message>
    <message>
        <source>&amp;Use these terms</source>
        <translation>Diese Begriffe &amp;verwenden</translation>
    </message>
    <message>
        <source>For captions in {}. A term is used from the next sentence on; one without a translation is a name, which stays as it is. The speech model prefers all of them from the next time listening begins.</source>
        <translation>Für Untertitel auf {}. Ein Begriff gilt ab dem nächsten Satz; einer ohne Übersetzung ist ein Name und bleibt, wie er ist. Das Spracherkennungsmodell bevorzugt alle, sobald das nächste Mal zugehört wird.</translation>
    </message>
    <message>
        <source>the term is empty: write it, or remove the row</source>
        <translation>der Begriff ist leer: bitte ausfüllen oder die Zeile entfernen</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <source>en</source>
        <translation>de</translation>
    </message>
</context>
<context>
    <name>HistoryController</name>
    <message>
        <source>The session of {:%Y-%m-%d %H:%M} ended unexpectedly; its captions are kept</source>
        <translation>Die Sitzung vom {:%d.%m.%Y %H:%M} wurde unerwartet beendet; ihre Untertitel sind erhalten</translation>
    </message>
    <message>
        <source>&amp;Show them</source>
        <translation>&amp;Zeigen</translation>
    </message>
    <message numerus="yes">
        <source>, but %Ln lines cannot be read</source>
        <translation>
            <numerusform>, doch %Ln Zeile ist nicht lesbar</numerusform>
            <numerusform>, doch %Ln Zeilen sind nicht lesbar</numerusform>
        </translation>
    </message>
    <message>
        <source>A session is damaged, and no caption in it can be read: {}</source>
        <translation>Eine Sitzung ist beschädigt, kein Untertitel darin ist lesbar: {}</translation>
    </message>
</context>
<context>
    <name>InputLine</name>
    <message>
        <source>Type or paste to caption; Enter ends the sentence</source>
        <translation>Text zum Untertiteln; Enter beendet den Satz</translation>
    </message>
    <message>
        <source>Text to caption</source>
        <translation>Zu untertitelnder Text</translation>
    </message>
    <message>
        <source>Type or paste to translate; Enter ends the sentence</source>
        <translation>Text zum Übersetzen; Enter beendet den Satz</translation>
    </message>
    <message>
        <source>Text to translate</source>
        <translation>Text zum Übersetzen</translation>
    </message>
</context>
<context>
    <name>Lanes</name>
    <message>
        <source>Me</source>
        <translation>Ich</translation>
    </message>
    <message>
        <source>Them</source>
        <translation>Andere</translation>
    </message>
</context>
<context>
    <name>LevelMeter</name>
    <message>
        <source>{:.0f} decibels below full scale</source>
        <translation>{:.0f} Dezibel unter Vollaussteuerung</translation>
    </message>
    <message>
        <source>Too loud: turn it down</source>
        <translation>Zu laut: leiser stellen</translation>
    </message>
    <message>
        <source>Silent</source>
        <translation>Still</translation>
    </message>
    <message>
        <source>Not listening</source>
        <translation>Hört nicht zu</translation>
    </message>
</context>
<context>
    <name>ListeningController</name>
    <message>
        <source>Starting to listen…</source>
        <translation>Das Zuhören beginnt …</translation>
    </message>
    <message>
        <source>Finishing what was said…</source>
        <translation>Die letzten Untertitel entstehen …</translation>
    </message>
    <message>
        <source>Loading the speech model… What is said is kept</source>
        <translation>Das Spracherkennungsmodell wird geladen … Gesagtes geht nicht verloren</translation>
    </message>
    <message>
        <source>Choose a&amp;nother speech model…</source>
        <translation>Anderes Spracherkennungsmodell wä&amp;hlen …</translation>
    </message>
    <message>
        <source>The speech model {} is not on this computer; the one before goes on</source>
        <translation>Das Spracherkennungsmodell {} ist nicht auf diesem Computer; das bisherige läuft weiter</translation>
    </message>
    <message>
        <source>Do&amp;wnload</source>
        <translation>Her&amp;unterladen</translation>
    </message>
    <message>
        <source>{} goes on</source>
        <translation>{} läuft weiter</translation>
    </message>
    <message>
        <source>The speech model {} is not on this computer</source>
        <translation>Das Spracherkennungsmodell {} ist nicht auf diesem Computer</translation>
    </message>
    <message>
        <source>Listening begins when the speech model is here</source>
        <translation>Das Zuhören beginnt, sobald das Spracherkennungsmodell da ist</translation>
    </message>
    <message>
        <source>Try a&amp;gain</source>
        <translation>Er&amp;neut versuchen</translation>
    </message>
    <message>
        <source>&amp;Use {}</source>
        <translation>{} &amp;verwenden</translation>
    </message>
    <message>
        <source>Translation &amp;models…</source>
        <translation>Übersetzungs&amp;modelle …</translation>
    </message>
    <message>
        <source>Waiting for the first sound…</source>
        <translation>Warten auf den ersten Ton …</translation>
    </message>
    <message>
        <source>Listening to the microphone</source>
        <translation>Hört zu: Mikrofon</translation>
    </message>
    <message>
        <source>Listening to computer sound</source>
        <translation>Hört zu: Computerton</translation>
    </message>
    <message>
        <source>Listening to microphone and computer sound</source>
        <translation>Hört zu: Mikrofon und Computerton</translation>
    </message>
</context>
<context>
    <name>MediaController</name>
    <message>
        <source>Audio and video ({});;All files (*)</source>
        <translation>Audio und Video ({});;Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Open an audio or video file</source>
        <translation>Audio- oder Videodatei öffnen</translation>
    </message>
    <message>
        <source>To caption speech, Surtitle needs a speech model</source>
        <translation>Um Gesprochenes zu untertiteln, braucht Surtitle ein Spracherkennungsmodell</translation>
    </message>
    <message>
        <source>Captioning {}</source>
        <translation>{} wird untertitelt</translation>
    </message>
</context>
<context>
    <name>MediaDialog</name>
    <message>
        <source>Caption a file</source>
        <translation>Datei untertiteln</translation>
    </message>
    <message>
        <source>As &amp;fast as possible</source>
        <translation>So &amp;schnell wie möglich</translation>
    </message>
    <message>
        <source>In real tim&amp;e</source>
        <translation>In Ech&amp;tzeit</translation>
    </message>
    <message>
        <source>S&amp;RT, for video players</source>
        <translation>S&amp;RT, für Videoplayer</translation>
    </message>
    <message>
        <source>&amp;WebVTT, for web pages</source>
        <translation>&amp;WebVTT, für Webseiten</translation>
    </message>
    <message>
        <source>Progress of the file</source>
        <translation>Fortschritt der Datei</translation>
    </message>
    <message>
        <source>&amp;Start</source>
        <translation>Start&amp;en</translation>
    </message>
    <message>
        <source>S&amp;top</source>
        <translation>An&amp;halten</translation>
    </message>
    <message>
        <source>Speech &amp;model…</source>
        <translation>&amp;Modell wählen …</translation>
    </message>
    <message>
        <source>&amp;Open folder</source>
        <translation>&amp;Ordner öffnen</translation>
    </message>
    <message>
        <source>Show c&amp;aptions</source>
        <translation>&amp;Untertitel zeigen</translation>
    </message>
    <message>
        <source>C&amp;lose</source>
        <translation>Sch&amp;ließen</translation>
    </message>
    <message>
        <source>Captions in {}, as a session of their own; in real time they stand in the transcript and the overlay.</source>
        <translation>Untertitel auf {}, als eigene Sitzung; in Echtzeit stehen sie in Mitschrift und Einblendung.</translation>
    </message>
    <message>
        <source>{} of {} heard.</source>
        <translation>{} von {} gehört.</translation>
    </message>
    <message>
        <source>{} heard.</source>
        <translation>{} gehört.</translation>
    </message>
    <message>
        <source>Finishing the last captions…</source>
        <translation>Die letzten Untertitel entstehen …</translation>
    </message>
    <message>
        <source>{} of {} heard, about {} left.</source>
        <translation>{} von {} gehört, noch etwa {}.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions are in the transcript.</source>
        <translation>
            <numerusform>%Ln Untertitel steht in der Mitschrift.</numerusform>
            <numerusform>%Ln Untertitel stehen in der Mitschrift.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions, in a session of their own.</source>
        <translation>
            <numerusform>%Ln Untertitel, als eigene Sitzung.</numerusform>
            <numerusform>%Ln Untertitel, als eigene Sitzung.</numerusform>
        </translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>Er&amp;neut versuchen</translation>
    </message>
    <message>
        <source>Write subtitles beside the file:</source>
        <translation>Untertitel neben der Datei speichern:</translation>
    </message>
    <message>
        <source>Loading the speech model…</source>
        <translation>Das Spracherkennungsmodell wird geladen …</translation>
    </message>
</context>
<context>
    <name>ModelChange</name>
    <message>
        <source>Starting the translation</source>
        <translation>Die Übersetzung wird gestartet</translation>
    </message>
    <message>
        <source>Connecting to {}</source>
        <translation>Verbindung mit {}</translation>
    </message>
    <message>
        <source>The model {} does not know the language {}; the captions are in {}</source>
        <translation>Das Modell {} kennt die Sprache {} nicht; die Untertitel sind auf {}</translation>
    </message>
    <message>
        <source>Not used c&amp;ommercially</source>
        <translation>Nicht ge&amp;werblich genutzt</translation>
    </message>
    <message>
        <source>Captions go on in {}.</source>
        <translation>Es geht auf {} weiter.</translation>
    </message>
    <message>
        <source>&amp;Stay with {}</source>
        <translation>&amp;Bei {} bleiben</translation>
    </message>
    <message>
        <source>{}. Captions go on in {} until then.</source>
        <translation>{}. Bis dahin laufen die Untertitel auf {} weiter.</translation>
    </message>
</context>
<context>
    <name>ModelController</name>
    <message>
        <source>There is no translation model on this computer; start Surtitle with --model FOLDER, let another computer translate (Tools, Advanced), or have captions without a translation</source>
        <translation>Auf diesem Computer ist kein Übersetzungsmodell; starten Sie Surtitle mit --model ORDNER, lassen Sie einen anderen Computer übersetzen (Extras, Erweitert) oder wählen Sie Untertitel ohne Übersetzung</translation>
    </message>
    <message>
        <source>Captions &amp;only</source>
        <translation>&amp;Nur Untertitel</translation>
    </message>
    <message>
        <source>Connecting to {}</source>
        <translation>Verbindung mit {}</translation>
    </message>
    <message>
        <source>Starting the translation</source>
        <translation>Die Übersetzung wird gestartet</translation>
    </message>
    <message>
        <source>T&amp;ranslate on this computer</source>
        <translation>Auf d&amp;iesem Computer übersetzen</translation>
    </message>
    <message>
        <source>&amp;Use {} instead</source>
        <translation>Stattdessen {} ver&amp;wenden</translation>
    </message>
</context>
<context>
    <name>ModelsDialog</name>
    <message>
        <source>Translation models</source>
        <translation>Übersetzungsmodelle</translation>
    </message>
    <message>
        <source>Checking this computer…</source>
        <translation>Dieser Computer wird geprüft …</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message>
        <source>Check a&amp;gain</source>
        <translation>Erneut &amp;prüfen</translation>
    </message>
    <message>
        <source>Choose a f&amp;older…</source>
        <translation>&amp;Ordner wählen …</translation>
    </message>
    <message>
        <source>&amp;Use this model</source>
        <translation>Dieses Modell &amp;verwenden</translation>
    </message>
    <message>
        <source>I s&amp;peak</source>
        <translation>Ich s&amp;preche</translation>
    </message>
    <message>
        <source>Language that is spoken</source>
        <translation>Sprache, die gesprochen wird</translation>
    </message>
    <message>
        <source>I want to &amp;read</source>
        <translation>Ich möchte l&amp;esen</translation>
    </message>
    <message>
        <source>Language of the captions</source>
        <translation>Sprache der Untertitel</translation>
    </message>
    <message>
        <source>C&amp;lose</source>
        <translation>Sch&amp;ließen</translation>
    </message>
    <message>
        <source>This computer could not be checked: {}</source>
        <translation>Dieser Computer ließ sich nicht prüfen: {}</translation>
    </message>
    <message numerus="yes">
        <source>This computer: {}, %Ln cores; {} of {} memory free.</source>
        <translation>
            <numerusform>Dieser Computer: {}, %Ln Kern; {} von {} Speicher frei.</numerusform>
            <numerusform>Dieser Computer: {}, %Ln Kerne; {} von {} Speicher frei.</numerusform>
        </translation>
    </message>
    <message>
        <source>Graphics card: {}, {} of {} free.</source>
        <translation>Grafikkarte: {}, {} von {} frei.</translation>
    </message>
    <message>
        <source>No usable GPU found. The CPU will be used.</source>
        <translation>Keine nutzbare Grafikkarte gefunden. Der Prozessor wird verwendet.</translation>
    </message>
    <message>
        <source>There is a graphics card that cannot be used: {}</source>
        <translation>Es gibt eine Grafikkarte, die nicht verwendbar ist: {}</translation>
    </message>
    <message>
        <source>{} are free on the disk.</source>
        <translation>{} sind auf dem Datenträger frei.</translation>
    </message>
    <message>
        <source>Download and &amp;use ({})</source>
        <translation>Herunterladen und ver&amp;wenden ({})</translation>
    </message>
    <message>
        <source>{} Not enough for this model.</source>
        <translation>{} Das reicht nicht für dieses Modell.</translation>
    </message>
    <message>
        <source>Folder of a translation model</source>
        <translation>Ordner eines Übersetzungsmodells</translation>
    </message>
</context>
<context>
    <name>NoAnswer</name>
    <message>
        <source>Surtitle runs (process {}), but does not answer.</source>
        <translation>Surtitle läuft (Prozess {}), antwortet aber nicht.</translation>
    </message>
    <message>
        <source>Wait a little and start it again. If that does not help, end that process.</source>
        <translation>Warten Sie ein wenig und starten Sie es neu. Hilft das nicht, beenden Sie diesen Prozess.</translation>
    </message>
</context>
<context>
    <name>OfferList</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>More models</source>
        <translation>Weitere Modelle</translation>
    </message>
</context>
<context>
    <name>Overlay</name>
    <message>
        <source>Surtitle captions</source>
        <translation>Surtitle-Untertitel</translation>
    </message>
    <message>
        <source>Caption overlay</source>
        <translation>Einblendung der Untertitel</translation>
    </message>
</context>
<context>
    <name>OverlayActions</name>
    <message>
        <source>Wayland lets no program keep a window above the others or put it anywhere: the overlay may go behind them, and does not come back to its place</source>
        <translation>Unter Wayland darf kein Programm ein Fenster über den anderen halten oder an einen Ort setzen: Die Einblendung kann hinter andere geraten und kommt nicht an ihren Platz zurück</translation>
    </message>
    <message>
        <source>. Through XWayland most desktops let it</source>
        <translation>. Über XWayland lassen die meisten Arbeitsumgebungen es zu</translation>
    </message>
    <message>
        <source>Start again through &amp;XWayland</source>
        <translation>Über &amp;XWayland neu starten</translation>
    </message>
</context>
<context>
    <name>OverlayController</name>
    <message>
        <source>Paused</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Catching up…</source>
        <translation>Wird aufgeholt …</translation>
    </message>
    <message>
        <source>Captions appear here.</source>
        <translation>Hier erscheinen Untertitel.</translation>
    </message>
    <message>
        <source>Drag them anywhere.</source>
        <translation>Ziehen Sie sie an eine beliebige Stelle.</translation>
    </message>
</context>
<context>
    <name>OverlayToolbar</name>
    <message>
        <source>Surtitle captions, controls</source>
        <translation>Surtitle-Untertitel, Bedienung</translation>
    </message>
    <message>
        <source>Controls of the overlay</source>
        <translation>Bedienung der Einblendung</translation>
    </message>
</context>
<context>
    <name>ProjectorController</name>
    <message>
        <source>Screen &amp;{}: {}</source>
        <translation>Bildschirm &amp;{}: {}</translation>
    </message>
    <message>
        <source>&amp;Larger letters</source>
        <translation>&amp;Größere Schrift</translation>
    </message>
    <message>
        <source>S&amp;maller letters</source>
        <translation>&amp;Kleinere Schrift</translation>
    </message>
    <message>
        <source>&amp;Fill the screen</source>
        <translation>Ganzer &amp;Bildschirm</translation>
    </message>
    <message>
        <source>Strip at the &amp;bottom</source>
        <translation>Streifen &amp;unten</translation>
    </message>
    <message>
        <source>Strip at the &amp;top</source>
        <translation>Streifen &amp;oben</translation>
    </message>
    <message>
        <source>The screen of the projector view is gone; the view comes back with it</source>
        <translation>Der Bildschirm der Beamer-Ansicht ist weg; die Ansicht kommt mit ihm zurück</translation>
    </message>
</context>
<context>
    <name>ProjectorView</name>
    <message>
        <source>Surtitle projector view</source>
        <translation>Surtitle, Projektoransicht</translation>
    </message>
    <message>
        <source>Captions for the room</source>
        <translation>Untertitel für den Raum</translation>
    </message>
</context>
<context>
    <name>ServerController</name>
    <message>
        <source>Computed on {}</source>
        <translation>Berechnet auf {}</translation>
    </message>
    <message>
        <source>Waiting for {}</source>
        <translation>Warten auf {}</translation>
    </message>
</context>
<context>
    <name>ServerDialog</name>
    <message>
        <source>Another computer translates</source>
        <translation>Ein anderer Computer übersetzt</translation>
    </message>
    <message>
        <source>Only if needed</source>
        <translation>Nur wenn nötig</translation>
    </message>
    <message>
        <source>&amp;Browse…</source>
        <translation>&amp;Durchsuchen …</translation>
    </message>
    <message>
        <source>Co&amp;nnect</source>
        <translation>&amp;Verbinden</translation>
    </message>
    <message>
        <source>A strong computer on which surtitle serve runs translates for this one. Words and captions go there; sound, files and the history do not.</source>
        <translation>Ein starker Computer, auf dem surtitle serve läuft, übersetzt für diesen. Wörter und Untertitel gehen dorthin; Ton, Dateien und Verlauf nicht.</translation>
    </message>
    <message>
        <source>Whoever runs it tells you address and token. They could read along: choose a computer that you trust.</source>
        <translation>Adresse und Token sagt Ihnen, wer ihn betreibt. Er oder sie könnte mitlesen: Wählen Sie einen Computer, dem Sie vertrauen.</translation>
    </message>
    <message>
        <source>&amp;Address:</source>
        <translation>&amp;Adresse:</translation>
    </message>
    <message>
        <source>&amp;Token:</source>
        <translation>&amp;Token:</translation>
    </message>
    <message>
        <source>C&amp;ertificate:</source>
        <translation>&amp;Zertifikat:</translation>
    </message>
    <message>
        <source>A token has letters, digits and signs of English only.</source>
        <translation>Ein Token hat nur Buchstaben, Ziffern und Zeichen des Englischen.</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut …</translation>
    </message>
    <message>
        <source>Certificate of the server</source>
        <translation>Zertifikat des Servers</translation>
    </message>
</context>
<context>
    <name>SessionWindow</name>
    <message>
        <source>Earlier session</source>
        <translation>Frühere Sitzung</translation>
    </message>
    <message>
        <source>&amp;Find…</source>
        <translation>&amp;Suchen …</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>&amp;Exportieren …</translation>
    </message>
    <message>
        <source>Session of {:%Y-%m-%d %H:%M}</source>
        <translation>Sitzung vom {:%d.%m.%Y %H:%M}</translation>
    </message>
    <message>
        <source>Captions of {}</source>
        <translation>Untertitel von {}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions</source>
        <translation>
            <numerusform>%Ln Untertitel</numerusform>
            <numerusform>%Ln Untertitel</numerusform>
        </translation>
    </message>
    <message>
        <source>The last {:,} of {:,} captions; an export has all</source>
        <translation>Die letzten {} von {} Untertiteln; exportiert werden alle</translation>
    </message>
    <message>
        <source>&amp;Continue this session</source>
        <translation>Diese Sitzung &amp;fortsetzen</translation>
    </message>
</context>
<context>
    <name>SessionsDialog</name>
    <message>
        <source>Earlier sessions</source>
        <translation>Frühere Sitzungen</translation>
    </message>
    <message>
        <source>Search in all sessions</source>
        <translation>In allen Sitzungen suchen</translation>
    </message>
    <message>
        <source>&amp;Show</source>
        <translation>&amp;Zeigen</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>&amp;Exportieren …</translation>
    </message>
    <message>
        <source>&amp;Delete…</source>
        <translation>&amp;Löschen …</translation>
    </message>
    <message>
        <source>No session contains this text.</source>
        <translation>Keine Sitzung enthält diesen Text.</translation>
    </message>
    <message numerus="yes">
        <source>{:%Y-%m-%d %H:%M}, %Ln captions</source>
        <translation>
            <numerusform>{:%d.%m.%Y %H:%M}, %Ln Untertitel</numerusform>
            <numerusform>{:%d.%m.%Y %H:%M}, %Ln Untertitel</numerusform>
        </translation>
    </message>
    <message>
        <source>{} (ended unexpectedly)</source>
        <translation>{} (unerwartet beendet)</translation>
    </message>
    <message>
        <source>Delete a session</source>
        <translation>Eine Sitzung löschen</translation>
    </message>
    <message>
        <source>Delete this session for good?</source>
        <translation>Diese Sitzung endgültig löschen?</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Löschen</translation>
    </message>
    <message>
        <source>&amp;Keep it</source>
        <translation>&amp;Behalten</translation>
    </message>
    <message>
        <source>The session cannot be deleted: {}.</source>
        <translation>Die Sitzung lässt sich nicht löschen: {}.</translation>
    </message>
    <message>
        <source>No earlier sessions.</source>
        <translation>Keine früheren Sitzungen.</translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Reset this page</source>
        <translation>Seite zurücksetzen</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Choose another &amp;model…</source>
        <translation>Anderes &amp;Modell wählen …</translation>
    </message>
</context>
<context>
    <name>SetupController</name>
    <message>
        <source>quality: {}</source>
        <translation>Qualität: {}</translation>
    </message>
    <message>
        <source>; its quality is not published</source>
        <translation>; die Qualität ist nicht veröffentlicht</translation>
    </message>
    <message>
        <source>Its model is on this computer</source>
        <translation>Das Modell ist auf diesem Computer</translation>
    </message>
    <message>
        <source>download {}</source>
        <translation>{} herunterladen</translation>
    </message>
    <message>
        <source>{language} ({facts})…</source>
        <translation>{language} ({facts}) …</translation>
    </message>
    <message>
        <source>Loading the speech model; what you say is kept.</source>
        <translation>Das Spracherkennungsmodell wird geladen; was Sie sagen, geht nicht verloren.</translation>
    </message>
    <message>
        <source>Listening. Captions come as soon as something is said.</source>
        <translation>Hört zu. Untertitel kommen, sobald etwas gesagt wird.</translation>
    </message>
    <message>
        <source>Listening. Say a sentence.</source>
        <translation>Surtitle hört zu. Sagen Sie einen Satz.</translation>
    </message>
    <message>
        <source>Until Surtitle is closed, the model that was named when it was started translates</source>
        <translation>Bis Surtitle geschlossen wird, übersetzt das Modell, das beim Start genannt wurde</translation>
    </message>
    <message>
        <source>Download {}, then use</source>
        <translation>{} herunterladen, dann verwenden</translation>
    </message>
</context>
<context>
    <name>SetupWizard</name>
    <message>
        <source>Set up Surtitle</source>
        <translation>Surtitle einrichten</translation>
    </message>
    <message>
        <source>&amp;Back</source>
        <translation>&amp;Zurück</translation>
    </message>
    <message>
        <source>&amp;Next</source>
        <translation>&amp;Weiter</translation>
    </message>
    <message>
        <source>&amp;Start typing</source>
        <translation>&amp;Tippen</translation>
    </message>
    <message>
        <source>Choose a fi&amp;le…</source>
        <translation>Datei &amp;wählen …</translation>
    </message>
    <message>
        <source>{} of {}</source>
        <translation>{} von {}</translation>
    </message>
    <message>
        <source>S&amp;kip set-up</source>
        <translation>Einrichtung ü&amp;berspringen</translation>
    </message>
    <message>
        <source>Skip for &amp;now</source>
        <translation>&amp;Vorerst überspringen</translation>
    </message>
</context>
<context>
    <name>ShareController</name>
    <message>
        <source>Nothing could be shared at {}: {}; choose another network, or look whether this computer is still connected</source>
        <translation>Unter {} ließ sich nichts freigeben: {}; bitte ein anderes Netz wählen oder nachsehen, ob dieser Computer noch verbunden ist</translation>
    </message>
    <message numerus="yes">
        <source>%Ln phones read along. Quit all the same?</source>
        <translation>
            <numerusform>%Ln Handy liest mit. Trotzdem beenden?</numerusform>
            <numerusform>%Ln Handys lesen mit. Trotzdem beenden?</numerusform>
        </translation>
    </message>
    <message>
        <source>Captions are shared</source>
        <translation>Untertitel werden geteilt</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>Go &amp;on sharing</source>
        <translation>&amp;Weiter teilen</translation>
    </message>
    <message>
        <source>This computer is no longer at {}, so no phone gets captions: join that network again, or share in another one</source>
        <translation>Dieser Computer ist nicht mehr unter {} erreichbar, also bekommt kein Handy Untertitel: Verbinden Sie sich wieder mit jenem Netz, oder geben Sie in einem anderen frei</translation>
    </message>
    <message>
        <source>S&amp;hare captions…</source>
        <translation>Untertitel fr&amp;eigeben …</translation>
    </message>
    <message>
        <source>Somebody guesses the PIN: stop sharing and start it again, which makes another one</source>
        <translation>Jemand rät die PIN: Beenden Sie das Teilen und beginnen Sie es neu, dann gilt eine andere</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share captions</source>
        <translation>Untertitel freigeben</translation>
    </message>
    <message>
        <source>Everybody with the &amp;QR code or the link</source>
        <translation>Alle mit dem &amp;QR-Code oder dem Link</translation>
    </message>
    <message>
        <source>Only people who also type a &amp;PIN that you show them</source>
        <translation>Nur wer auch eine &amp;PIN eintippt, die Sie zeigen</translation>
    </message>
    <message>
        <source>The same co&amp;de next time</source>
        <translation>Beim nächsten Mal &amp;derselbe Code</translation>
    </message>
    <message>
        <source>Who has the code today can read along the next time, too</source>
        <translation>Wer heute den Code hat, kann auch beim nächsten Mal mitlesen</translation>
    </message>
    <message>
        <source>QR code of the address</source>
        <translation>QR-Code der Adresse</translation>
    </message>
    <message>
        <source>&amp;Start sharing</source>
        <translation>Freigabe &amp;starten</translation>
    </message>
    <message>
        <source>S&amp;top sharing</source>
        <translation>Freigabe &amp;beenden</translation>
    </message>
    <message>
        <source>&amp;Network:</source>
        <translation>&amp;Netz:</translation>
    </message>
    <message>
        <source>Readers:</source>
        <translation>Es lesen mit:</translation>
    </message>
    <message>
        <source>Languages:</source>
        <translation>Sprachen:</translation>
    </message>
    <message>
        <source>Copy &amp;link</source>
        <translation>&amp;Link kopieren</translation>
    </message>
    <message>
        <source>Show on the &amp;wall…</source>
        <translation>An die &amp;Wand …</translation>
    </message>
    <message>
        <source>Fill a screen with the code, for the room to see</source>
        <translation>Einen Bildschirm mit dem Code füllen, für alle im Raum</translation>
    </message>
    <message>
        <source>People in the room read the captions in the browser of their phone, without the internet, from now on.</source>
        <translation>Die Leute im Raum lesen die Untertitel ab jetzt im Browser ihres Handys, ohne das Internet.</translation>
    </message>
    <message>
        <source>Not encrypted: others in the same network who record it can read along.</source>
        <translation>Nicht verschlüsselt: Wer im selben Netz mitschneidet, kann mitlesen.</translation>
    </message>
    <message>
        <source>This computer only, to try it</source>
        <translation>Nur dieser Computer, zum Ausprobieren</translation>
    </message>
    <message>
        <source>{} (as it is said)</source>
        <translation>{} (wie gesprochen)</translation>
    </message>
    <message>
        <source>{} (translated)</source>
        <translation>{} (übersetzt)</translation>
    </message>
    <message>
        <source>{}. Each is computed only while it is read, {} at most at once; the captions never wait for it.</source>
        <translation>{}. Jede wird nur berechnet, solange sie gelesen wird, höchstens {} zugleich; die Untertitel warten nie darauf.</translation>
    </message>
    <message>
        <source>Wi-Fi</source>
        <translation>WLAN</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>This network is the internet itself: anybody in the world could connect.</source>
        <translation>Dieses Netz ist das Internet selbst: Jeder auf der Welt könnte sich verbinden.</translation>
    </message>
    <message>
        <source>Only the browser of this computer can open this address, no phone.</source>
        <translation>Diese Adresse öffnet nur der Browser dieses Computers, kein Telefon.</translation>
    </message>
    <message>
        <source>Choose the network that the phones are in.</source>
        <translation>Wählen Sie das Netz, in dem die Telefone sind.</translation>
    </message>
    <message>
        <source>This computer is in no network: connect it to the one that the phones are in, then open this window again.</source>
        <translation>Dieser Computer ist in keinem Netz: Verbinden Sie ihn mit dem der Telefone und öffnen Sie dann dieses Fenster neu.</translation>
    </message>
    <message>
        <source>PIN: {}</source>
        <translation>PIN: {}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln phones read along</source>
        <translation>
            <numerusform>%Ln Telefon liest mit</numerusform>
            <numerusform>%Ln Telefone lesen mit</numerusform>
        </translation>
    </message>
    <message>
        <source>No phone reads along yet: it must be in this network, and the firewall of this computer must let it in</source>
        <translation>Noch liest kein Handy mit: Es muss in diesem Netz sein, und die Firewall dieses Computers muss es hereinlassen</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Screen &amp;{}: {}</source>
        <translation>Bildschirm &amp;{}: {}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln further languages, if a reader chooses one</source>
        <translation>
            <numerusform>%Ln weitere Sprache, wenn ein Leser sie wählt</numerusform>
            <numerusform>%Ln weitere Sprachen, wenn ein Leser eine wählt</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ShortcutsPage</name>
    <message>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Result of the last edit</source>
        <translation>Ergebnis der letzten Änderung</translation>
    </message>
    <message>
        <source>{} types text; combine it with Ctrl or Alt, or use a function key</source>
        <translation>{} schreibt Text; nehmen Sie die Taste zusammen mit Strg oder Alt, oder eine Funktionstaste</translation>
    </message>
    <message>
        <source>{} is already used by “{}”; nothing was changed</source>
        <translation>{} wird schon von „{}“ verwendet; nichts wurde geändert</translation>
    </message>
    <message>
        <source>Keys for {}</source>
        <translation>Tasten für {}</translation>
    </message>
    <message>
        <source>Go to a field and press the keys; Backspace removes them. For a shortcut that works everywhere, bind a command such as {} in your desktop&apos;s settings.</source>
        <translation>Gehen Sie in ein Feld und drücken Sie die Tasten; die Rücktaste entfernt sie. Damit ein Tastenkürzel überall wirkt, verknüpfen Sie es in den Einstellungen Ihres Desktops mit einem Befehl wie {}.</translation>
    </message>
</context>
<context>
    <name>SourceToggle</name>
    <message>
        <source>Level of {}</source>
        <translation>Pegel: {}</translation>
    </message>
</context>
<context>
    <name>SpeechModel</name>
    <message>
        <source>To caption speech, Surtitle needs the speech model {} (once).</source>
        <translation>Um Gesprochenes zu untertiteln, braucht Surtitle das Spracherkennungsmodell {} (einmalig).</translation>
    </message>
    <message>
        <source>To caption speech, Surtitle needs a speech model ({} MB, once).</source>
        <translation>Um Gesprochenes zu untertiteln, braucht Surtitle ein Spracherkennungsmodell ({} MB, einmalig).</translation>
    </message>
</context>
<context>
    <name>SpeechPage</name>
    <message>
        <source>Speech</source>
        <translation>Spracherkennung</translation>
    </message>
    <message>
        <source>M&amp;icrophone</source>
        <translation>M&amp;ikrofon</translation>
    </message>
    <message>
        <source>&amp;Computer sound</source>
        <translation>&amp;Computerton</translation>
    </message>
    <message>
        <source>&amp;Open folder</source>
        <translation>Or&amp;dner öffnen</translation>
    </message>
    <message>
        <source>Folder of a speech model</source>
        <translation>Ordner eines Spracherkennungsmodells</translation>
    </message>
    <message>
        <source>Speech model</source>
        <translation>Spracherkennungsmodell</translation>
    </message>
    <message>
        <source>Speed on this computer: being measured.</source>
        <translation>Tempo auf diesem Computer: wird gemessen.</translation>
    </message>
    <message>
        <source>This speech model is on this computer.</source>
        <translation>Dieses Spracherkennungsmodell ist auf diesem Computer.</translation>
    </message>
    <message>
        <source>The speed of this computer is being measured: about 5 s.</source>
        <translation>Das Tempo dieses Computers wird gemessen: etwa 5 s.</translation>
    </message>
    <message>
        <source>Contacting huggingface.co…</source>
        <translation>Verbindung zu huggingface.co wird hergestellt …</translation>
    </message>
    <message>
        <source>Misses more words.</source>
        <translation>Überhört mehr Wörter.</translation>
    </message>
    <message>
        <source>A speech model for English comes with Surtitle. Others know more languages or are more exact; they are downloaded once from huggingface.co, after that no internet is needed.</source>
        <translation>Ein Spracherkennungsmodell für Englisch gehört zu Surtitle. Andere kennen mehr Sprachen oder sind genauer; sie werden einmal von huggingface.co geladen, danach ist kein Internet nötig.</translation>
    </message>
    <message>
        <source>For most computers.</source>
        <translation>Für die meisten Computer.</translation>
    </message>
    <message>
        <source>For fast computers.</source>
        <translation>Für schnelle Computer.</translation>
    </message>
    <message>
        <source>English. Words appear about a second after they were said.</source>
        <translation>Englisch. Wörter erscheinen etwa eine Sekunde, nachdem sie gesagt wurden.</translation>
    </message>
    <message>
        <source>already here</source>
        <translation>schon vorhanden</translation>
    </message>
    <message>
        <source>Another model</source>
        <translation>Ein anderes Modell</translation>
    </message>
    <message>
        <source>Captions fell behind speech on this computer.</source>
        <translation>Auf diesem Computer blieben die Untertitel zurück.</translation>
    </message>
    <message>
        <source>Fast on this computer.</source>
        <translation>Schnell auf diesem Computer.</translation>
    </message>
    <message>
        <source>Fast enough on this computer.</source>
        <translation>Schnell genug auf diesem Computer.</translation>
    </message>
    <message>
        <source>Probably too slow for this computer.</source>
        <translation>Wahrscheinlich zu langsam für diesen Computer.</translation>
    </message>
    <message>
        <source>More exact: words appear a second or two later</source>
        <translation>Genauer: Wörter erscheinen ein bis zwei Sekunden später</translation>
    </message>
    <message>
        <source>To caption speech, Surtitle needs a speech model. Download it once from huggingface.co; after that no internet is needed. The first three are more exact: words appear a second or two after they were said.</source>
        <translation>Um Gesprochenes zu untertiteln, braucht Surtitle ein Spracherkennungsmodell. Laden Sie es einmal von huggingface.co herunter; danach ist kein Internet nötig. Die ersten drei sind genauer: Wörter erscheinen ein bis zwei Sekunden, nachdem sie gesagt wurden.</translation>
    </message>
    <message>
        <source>Words appear as they are said. English only.</source>
        <translation>Wörter erscheinen, während sie gesagt werden. Nur Englisch.</translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Show the QR code, or stop sharing</source>
        <translation>QR-Code zeigen oder Freigabe beenden</translation>
    </message>
    <message>
        <source>Choose which computer translates</source>
        <translation>Wählen, welcher Computer übersetzt</translation>
    </message>
    <message>
        <source>Glossary on</source>
        <translation>Glossar an</translation>
    </message>
    <message>
        <source>Mode, language and timing of the captions</source>
        <translation>Modus, Sprache und Tempo der Untertitel</translation>
    </message>
    <message>
        <source>M&amp;ore</source>
        <translation>&amp;Mehr</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen …</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message numerus="yes">
        <source>Shared with %Ln phones</source>
        <translation>
            <numerusform>Für %Ln Telefon freigegeben</numerusform>
            <numerusform>Für %Ln Telefone freigegeben</numerusform>
        </translation>
    </message>
    <message>
        <source>Shared, no reader yet</source>
        <translation>Freigegeben, noch liest niemand mit</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pause</translation>
    </message>
    <message numerus="yes">
        <source>Catching up: %Ln words to go</source>
        <translation>
            <numerusform>Holt auf: noch %Ln Wort</numerusform>
            <numerusform>Holt auf: noch %Ln Wörter</numerusform>
        </translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>captions {} s behind</source>
        <translation>Untertitel {} s im Rückstand</translation>
    </message>
    <message>
        <source>Skip to now</source>
        <translation>Überspringen</translation>
    </message>
    <message>
        <source>Leave the sentences that wait without a translation</source>
        <translation>Die wartenden Sätze nicht übersetzen</translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>Transcript: source and captions</source>
        <translation>Mitschrift: Gesagtes und Untertitel</translation>
    </message>
    <message>
        <source>Go to the newest caption and follow it</source>
        <translation>Zum neuesten Untertitel gehen und ihm folgen</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Neueste</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>Copy &amp;original</source>
        <translation>&amp;Original kopieren</translation>
    </message>
    <message>
        <source>Copy &amp;translation</source>
        <translation>Ü&amp;bersetzung kopieren</translation>
    </message>
    <message>
        <source>Co&amp;rrect</source>
        <translation>Ko&amp;rrigieren</translation>
    </message>
    <message>
        <source>Remove &amp;bookmark</source>
        <translation>&amp;Lesezeichen entfernen</translation>
    </message>
    <message>
        <source>&amp;Bookmark</source>
        <translation>&amp;Lesezeichen</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Löschen</translation>
    </message>
</context>
<context>
    <name>TranscriptCell</name>
    <message>
        <source>Correct what was said</source>
        <translation>Korrigieren, was gesagt wurde</translation>
    </message>
</context>
<context>
    <name>TranscriptModel</name>
    <message>
        <source>Source</source>
        <translation>Gesagtes</translation>
    </message>
    <message>
        <source>Captions</source>
        <translation>Untertitel</translation>
    </message>
    <message>
        <source>Words in italics may still change</source>
        <translation>Kursive Wörter können sich noch ändern</translation>
    </message>
    <message>
        <source>Bookmark</source>
        <translation>Lesezeichen</translation>
    </message>
    <message>
        <source>Speaker</source>
        <translation>Sprecher</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>The model is not sure of this caption</source>
        <translation>Bei diesem Untertitel ist das Modell unsicher</translation>
    </message>
</context>
<context>
    <name>TranslationPage</name>
    <message>
        <source>Translation</source>
        <translation>Übersetzung</translation>
    </message>
    <message>
        <source>&amp;Timing</source>
        <translation>&amp;Tempo</translation>
    </message>
    <message>
        <source>Translation model</source>
        <translation>Übersetzungsmodell</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Show &amp;window</source>
        <translation>&amp;Fenster zeigen</translation>
    </message>
    <message>
        <source>Captions go on. Click this icon for the window, or choose Quit in its menu.</source>
        <translation>Die Untertitel gehen weiter. Ein Klick auf dieses Symbol zeigt das Fenster, Beenden steht in seinem Menü.</translation>
    </message>
</context>
<context>
    <name>TryPage</name>
    <message>
        <source>Try it</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>C&amp;hoose a speech model…</source>
        <translation>Spracherkennungs&amp;modell wählen …</translation>
    </message>
    <message>
        <source>Try a&amp;gain</source>
        <translation>Erne&amp;ut versuchen</translation>
    </message>
    <message>
        <source>C&amp;lose</source>
        <translation>S&amp;chließen</translation>
    </message>
    <message>
        <source>&amp;Start captions of the microphone</source>
        <translation>Mikrofon &amp;untertiteln</translation>
    </message>
    <message>
        <source>&amp;Start captions of computer sound</source>
        <translation>Computerton &amp;untertiteln</translation>
    </message>
    <message>
        <source>&amp;Start captions of both</source>
        <translation>Beides &amp;untertiteln</translation>
    </message>
    <message>
        <source>Switch computer sound on, and play something in English or begin the call. Nothing is recorded before that; the bars move when sound arrives.</source>
        <translation>Schalten Sie den Computerton ein und spielen Sie etwas auf Englisch ab, oder beginnen Sie den Anruf. Vorher wird nichts aufgenommen; die Balken bewegen sich, wenn Ton ankommt.</translation>
    </message>
    <message>
        <source>Switch the microphone on and say an English sentence. Nothing is recorded before that; the bars move when sound arrives.</source>
        <translation>Schalten Sie das Mikrofon ein und sagen Sie einen englischen Satz. Vorher wird nichts aufgenommen; die Balken bewegen sich, wenn Ton ankommt.</translation>
    </message>
    <message>
        <source>The speech model is still being downloaded. You can try speaking here as soon as it has arrived.</source>
        <translation>Das Spracherkennungsmodell wird noch heruntergeladen. Sobald es da ist, können Sie hier sprechen.</translation>
    </message>
    <message>
        <source>To try it, Surtitle needs a speech model, and there is none on this computer yet.</source>
        <translation>Zum Ausprobieren braucht Surtitle ein Spracherkennungsmodell; auf diesem Computer ist noch keines.</translation>
    </message>
    <message>
        <source>Off.</source>
        <translation>Aus.</translation>
    </message>
    <message>
        <source>Your captions appear here.</source>
        <translation>Hier erscheinen Ihre Untertitel.</translation>
    </message>
    <message>
        <source>Microphone</source>
        <translation>Mikrofon</translation>
    </message>
    <message>
        <source>Computer sound</source>
        <translation>Computerton</translation>
    </message>
    <message>
        <source>What was said</source>
        <translation>Was gesagt wurde</translation>
    </message>
    <message>
        <source>Caption</source>
        <translation>Untertitel</translation>
    </message>
    <message>
        <source>Switch &amp;microphone on</source>
        <translation>Mi&amp;krofon einschalten</translation>
    </message>
    <message>
        <source>Switch &amp;microphone off</source>
        <translation>Mi&amp;krofon ausschalten</translation>
    </message>
    <message>
        <source>Switch &amp;computer sound off</source>
        <translation>&amp;Computerton ausschalten</translation>
    </message>
    <message>
        <source>Switch &amp;computer sound on</source>
        <translation>&amp;Computerton einschalten</translation>
    </message>
    <message>
        <source>Opening the device…</source>
        <translation>Das Gerät wird geöffnet …</translation>
    </message>
</context>
<context>
    <name>WelcomePage</name>
    <message>
        <source>Language that is spoken</source>
        <translation>Sprache, die gesprochen wird</translation>
    </message>
    <message>
        <source>Language of the captions</source>
        <translation>Sprache der Untertitel</translation>
    </message>
    <message>
        <source>No translation: captions in English</source>
        <translation>Ohne Übersetzung: Untertitel auf Englisch</translation>
    </message>
    <message>
        <source>What is said is captioned word for word; no translation model is used.</source>
        <translation>Gesprochenes wird Wort für Wort untertitelt; ein Übersetzungsmodell wird nicht verwendet.</translation>
    </message>
    <message>
        <source>For {}, you choose a translation model after this set-up.</source>
        <translation>Für {} wählen Sie nach der Einrichtung ein Übersetzungsmodell.</translation>
    </message>
    <message>
        <source>Built-in translation: {}.</source>
        <translation>Eingebaute Übersetzung: {}.</translation>
    </message>
    <message>
        <source>Live captions, on this computer only</source>
        <translation>Live-Untertitel, nur auf diesem Computer</translation>
    </message>
    <message>
        <source>Only models that you choose to download come from huggingface.co. Captions are saved here for 30 days, so a crash costs you one sentence at most; the settings can change that or turn it off.</source>
        <translation>Nur Modelle, die Sie selbst herunterladen, kommen von huggingface.co. Untertitel werden hier 30 Tage lang gespeichert, sodass ein Absturz höchstens einen Satz kostet; in den Einstellungen lässt sich das ändern oder abschalten.</translation>
    </message>
    <message>
        <source>The built-in translator is for simple, everyday sentences.</source>
        <translation>Der eingebaute Übersetzer ist für einfache, alltägliche Sätze gedacht.</translation>
    </message>
    <message>
        <source>No sound or text leaves this computer</source>
        <translation>Weder Ton noch Text verlassen diesen Computer</translation>
    </message>
    <message>
        <source>What do you want captioned?</source>
        <translation>Was soll untertitelt werden?</translation>
    </message>
    <message>
        <source>A &amp;call</source>
        <translation>Ein &amp;Anruf</translation>
    </message>
    <message>
        <source>My &amp;voice</source>
        <translation>Meine &amp;Stimme</translation>
    </message>
    <message>
        <source>A &amp;file</source>
        <translation>Eine &amp;Datei</translation>
    </message>
    <message>
        <source>I &amp;type</source>
        <translation>Was ich &amp;tippe</translation>
    </message>
    <message>
        <source>No account and no tracking</source>
        <translation>Kein Konto, kein Tracking</translation>
    </message>
    <message>
        <source>Works without the internet</source>
        <translation>Funktioniert ohne Internet</translation>
    </message>
</context>
</TS>
