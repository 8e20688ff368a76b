/// The style sheet of the report, with light, dark, print and narrow-screen layouts.
///
/// One accent colour, greys, and a warning colour for errors above the bound. Text has a contrast of at least 4.5 to 1
/// against its background (WCAG 2.1, 1.4.3).
enum ReportStyle {
  /// The style sheet; it contains no character that needs escaping.
  static let sheet = """

    :root{--bg:#f6f7f8;--card:#fff;--ink:#16191d;--soft:#59616b;--line:#dfe3e7;--path:#8a939d;\
    --accent:#0a5fc2;--bad:#b3261e;--plain:#aeb6bf;color-scheme:light dark}
    @media(prefers-color-scheme:dark){:root{--bg:#0e1114;--card:#171b1f;--ink:#e9ecef;--soft:#a3acb6;\
    --line:#2c3238;--path:#78828d;--accent:#6db1ff;--bad:#ff8b80;--plain:#59636e}}
    *{box-sizing:border-box}
    body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.45 system-ui,-apple-system,\
    "Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums;\
    -webkit-text-size-adjust:100%}
    main{max-width:60rem;margin:0 auto;padding:1.75rem 1.25rem 3rem}
    h1,h2,h3,p,figure,dl,dd{margin:0}
    h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.01em;overflow-wrap:anywhere;text-wrap:balance}
    h2{font-size:1.125rem;margin-bottom:.75rem}
    h3{font-size:.9375rem;margin:1.5rem 0 .5rem}
    h2+h3{margin-top:0}
    .note,.lead{color:var(--soft)}
    .note{font-size:.8125rem}
    .lead{font-size:.9375rem;margin:.25rem 0 .75rem;overflow-wrap:anywhere}
    header .lead{margin:.5rem 0 1.25rem}
    section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem;\
    margin-top:1rem}
    .tiles{display:flex;flex-wrap:wrap;gap:1px;\
    background:var(--line);border:1px solid var(--line);border-radius:.75rem;overflow:hidden}
    .tile{background:var(--card);padding:1rem 1.25rem;flex:1 1 13rem}
    .many .tile{flex-basis:17rem}
    .tile dt{font-size:.8125rem;color:var(--soft)}
    .big{font-size:1.625rem;font-weight:650;line-height:1.25;letter-spacing:-.01em}
    .first .big{color:var(--accent)}
    .canvas{position:relative;border:1px solid var(--line);border-radius:.5rem;overflow:hidden;\
    background:var(--bg)}
    .canvas svg{display:block;width:100%;height:100%}
    path{fill:none;vector-effect:non-scaling-stroke}
    .grid{stroke:var(--line);stroke-width:1}
    .pathline{stroke:var(--path);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
    .gapline{stroke:var(--path);stroke-width:1.5;stroke-dasharray:2 5}
    .dots{stroke:var(--accent);stroke-width:4.5;stroke-linecap:round;stroke-opacity:.75}
    .dots.many{stroke-width:3}
    .core{stroke:var(--card);stroke-width:6;stroke-linecap:round}
    .end{stroke-linecap:round;stroke-width:13;stroke:var(--ink)}
    .under{position:relative;height:1.75rem}
    .pin,.scale,.north{position:absolute;font-size:.8125rem;line-height:1.2;white-space:nowrap}
    .pin{font-weight:650;transform:translate(.75rem,-50%);background:var(--card);\
    border:1px solid var(--line);padding:.125rem .4rem;border-radius:.3rem}
    .pin.left{transform:translate(calc(-100% - .75rem),-50%)}
    .scale{left:0;bottom:0;border:solid var(--ink);border-width:0 1.5px 1.5px;\
    padding:0 0 .2rem;text-align:center}
    .north{right:0;bottom:.2rem;color:var(--soft)}
    .key{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;font-size:.8125rem;color:var(--soft);\
    margin-top:.6rem}
    .k::before{content:"";display:inline-block;width:.75rem;height:.75rem;border-radius:.15rem;\
    margin-right:.4rem;vertical-align:-.08rem;background:var(--accent)}
    .k.path::before,.k.gap::before,.k.rule::before{height:0;border-top:2px solid var(--path);\
    background:none;border-radius:0;width:1.1rem;vertical-align:.22rem}
    .k.gap::before{border-top-style:dotted}
    .k.rule::before{border-top:1.5px dashed var(--ink)}
    .k.fix::before{width:.4rem;height:.4rem;border-radius:50%;vertical-align:.1rem}
    .k.bad::before{background:var(--bad)}
    .k.box::before{opacity:.55}
    .k.drop::before{background:var(--ink);width:.4rem;height:.4rem;border-radius:50%;\
    vertical-align:.1rem}
    .k.none::before{background:var(--line)}
    .strip{padding-bottom:2.25rem}
    .strip figcaption{margin-bottom:.5rem;line-height:1.3}
    .strip b{font-size:.9375rem;font-weight:650}
    .plot{position:relative;height:8.5rem;margin:0 .25rem 0 3.25rem}
    .plot svg{display:block;width:100%;height:100%;overflow:visible;clip-path:inset(-.5rem 0);\
    border-bottom:1px solid var(--path)}
    .band{fill:var(--accent);fill-opacity:.2}
    .curve{stroke:var(--accent);stroke-width:1.75;stroke-linejoin:round}
    .columns{fill:var(--accent);fill-opacity:.55}
    .area{fill:var(--accent);fill-opacity:.55}
    .over{fill:var(--bad)}
    .blank{fill:var(--line);fill-opacity:.55}
    .bound{stroke:var(--ink);stroke-width:1.25;stroke-dasharray:5 4}
    .deliveries{stroke:var(--ink);stroke-width:5;stroke-linecap:round}
    .tip{fill:transparent}
    .tip:hover{fill:var(--ink);fill-opacity:.08}
    .y,.x{position:absolute;font-size:.75rem;line-height:1;color:var(--soft);white-space:nowrap}
    .y{right:calc(100% + .5rem);transform:translateY(-50%)}
    .x{top:calc(100% + .45rem);transform:translateX(-50%)}
    .x.last{transform:translateX(-100%)}
    .bar{display:grid;grid-template-columns:9rem 1fr 5.5rem;gap:.75rem;align-items:center;\
    font-size:.875rem;padding:.2rem 0}
    .track{display:flex;height:1.125rem;background:var(--bg);border-radius:.2rem;overflow:hidden}
    .fill{display:block;height:100%;min-width:1px}
    .fill.plain{background:var(--plain)}
    .r0,.k.r0::before{--o:1}.r1,.k.r1::before{--o:.62}.r2,.k.r2::before{--o:.36}.r3,.k.r3::before{--o:.2}
    .fill.r0,.fill.r1,.fill.r2,.fill.r3{background:var(--accent);opacity:var(--o)}
    .k.r0::before,.k.r1::before,.k.r2::before,.k.r3::before{opacity:var(--o)}
    .sum{text-align:right;white-space:nowrap}
    table{border-collapse:collapse;width:100%;font-size:.875rem;margin-top:1rem}
    th,td{text-align:right;padding:.35rem .3rem;border-top:1px solid var(--line);font-weight:400}
    thead th{border-top:0;color:var(--soft);font-size:.8125rem;vertical-align:bottom}
    td{white-space:nowrap}
    td.wide{white-space:normal}
    th:first-child{text-align:left;padding-left:0}
    td:last-child,th:last-child{padding-right:0}
    details{margin-top:1rem;font-size:.875rem}
    summary{cursor:pointer;color:var(--accent)}
    summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
    .settings{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem;margin:.75rem 0}
    .settings dt{color:var(--soft)}
    .settings dd{overflow-wrap:anywhere}
    footer{margin-top:1.5rem}
    footer .note{margin-top:.75rem}
    @media(max-width:36rem){main{padding:1.25rem .75rem 2rem}section{padding:1rem .875rem}\
    h1{font-size:1.375rem}.tile,.many .tile{padding:.75rem .875rem;flex-basis:40%}\
    .strip .note{display:block}.big{font-size:1.3125rem}\
    .alt{display:none}.plot{height:7rem;margin-left:2.6rem}\
    .bar{grid-template-columns:1fr auto;gap:.15rem .75rem}.bar .track{grid-column:1/-1;grid-row:2}}
    @media print{body{background:none}section,.tiles{break-inside:avoid}}

    """
}
