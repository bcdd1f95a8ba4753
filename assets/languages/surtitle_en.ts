<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>ExportDialog</name>
    <message numerus="yes">
        <source>%Ln captions</source>
        <translation>
            <numerusform>%Ln caption</numerusform>
            <numerusform>%Ln captions</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions were written to {}</source>
        <translation>
            <numerusform>%Ln caption was written to {}</numerusform>
            <numerusform>%Ln captions were written to {}</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{} lacks %Ln captions</source>
        <translation>
            <numerusform>{} lacks %Ln caption</numerusform>
            <numerusform>{} lacks %Ln captions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FurtherController</name>
    <message numerus="yes">
        <source>{} leaves out %Ln sentences for now</source>
        <translation>
            <numerusform>{} leaves out %Ln sentence for now</numerusform>
            <numerusform>{} leaves out %Ln sentences for now</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GeneralPage</name>
    <message numerus="yes">
        <source> days</source>
        <translation>
            <numerusform> day</numerusform>
            <numerusform> days</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GlossaryController</name>
    <message numerus="yes">
        <source>%Ln terms cost {:,} tokens of the prompt, computed once</source>
        <translation>
            <numerusform>%Ln term costs {:,} tokens of the prompt, computed once</numerusform>
            <numerusform>%Ln terms cost {:,} tokens of the prompt, computed once</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln terms are in use; they don&apos;t slow the translation</source>
        <translation>
            <numerusform>%Ln term is in use; it doesn&apos;t slow the translation</numerusform>
            <numerusform>%Ln terms are in use; they don&apos;t slow the translation</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>HistoryController</name>
    <message numerus="yes">
        <source>, but %Ln lines cannot be read</source>
        <translation>
            <numerusform>, but %Ln line cannot be read</numerusform>
            <numerusform>, but %Ln lines cannot be read</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MediaDialog</name>
    <message numerus="yes">
        <source>%Ln captions are in the transcript.</source>
        <translation>
            <numerusform>%Ln caption is in the transcript.</numerusform>
            <numerusform>%Ln captions are in the transcript.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln captions, in a session of their own.</source>
        <translation>
            <numerusform>%Ln caption, in a session of its own.</numerusform>
            <numerusform>%Ln captions, in a session of their own.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelsDialog</name>
    <message numerus="yes">
        <source>This computer: {}, %Ln cores; {} of {} memory free.</source>
        <translation>
            <numerusform>This computer: {}, %Ln core; {} of {} memory free.</numerusform>
            <numerusform>This computer: {}, %Ln cores; {} of {} memory free.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionWindow</name>
    <message numerus="yes">
        <source>%Ln captions</source>
        <translation>
            <numerusform>%Ln caption</numerusform>
            <numerusform>%Ln captions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SessionsDialog</name>
    <message numerus="yes">
        <source>{:%Y-%m-%d %H:%M}, %Ln captions</source>
        <translation>
            <numerusform>{:%Y-%m-%d %H:%M}, %Ln caption</numerusform>
            <numerusform>{:%Y-%m-%d %H:%M}, %Ln captions</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ShareController</name>
    <message numerus="yes">
        <source>%Ln phones read along. Quit all the same?</source>
        <translation>
            <numerusform>%Ln phone reads along. Quit all the same?</numerusform>
            <numerusform>%Ln phones read along. Quit all the same?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message numerus="yes">
        <source>%Ln further languages, if a reader chooses one</source>
        <translation>
            <numerusform>%Ln further language, if a reader chooses it</numerusform>
            <numerusform>%Ln further languages, if a reader chooses one</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln phones read along</source>
        <translation>
            <numerusform>%Ln phone reads along</numerusform>
            <numerusform>%Ln phones read along</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message numerus="yes">
        <source>Shared with %Ln phones</source>
        <translation>
            <numerusform>Shared with %Ln phone</numerusform>
            <numerusform>Shared with %Ln phones</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Catching up: %Ln words to go</source>
        <translation>
            <numerusform>Catching up: %Ln word to go</numerusform>
            <numerusform>Catching up: %Ln words to go</numerusform>
        </translation>
    </message>
</context>
</TS>
