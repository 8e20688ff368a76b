extension ReportPage {
  /// The style sheet, without characters that XML needs to escape. Text has a contrast of at least 4.5 to 1 against its
  /// background (WCAG 2.1, 1.4.3). A layer of a chart has its colour in `--c` and its opacity in `--o`.
  static let style = """
    :root{--bg:#f6f7f8;--card:#fff;--ink:#16191d;--soft:#59616b;--line:#dfe3e7;--path:#8a939d;
    --accent:#0a5fc2;--bad:#b3261e;--plain:#aeb6bf;color-scheme:light dark}
    @media(prefers-color-scheme:dark){:root{--bg:#0e1114;--card:#171b1f;--ink:#e9ecef;
    --soft:#a3acb6;--line:#2c3238;--path:#78828d;--accent:#6db1ff;--bad:#ff8b80;--plain:#59636e}}
    *{box-sizing:border-box;margin:0}
    body{background:var(--bg);color:var(--ink);font:16px/1.45 system-ui,Liberation Sans,sans-serif;
    font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
    main{max-width:60rem;margin:0 auto;padding:1.75rem 1.25rem;overflow-wrap:anywhere}
    h1{font-size:1.75rem;line-height:1.2}
    h2{font-size:1.125rem}
    h3{font-size:.9375rem;margin-top:1.5rem}
    .note,.key,dt,thead,.y,.x{color:var(--soft);font-size:.8125rem}
    .lead{color:var(--soft);margin:.5rem 0}
    section,.tiles{background:var(--card);border:1px solid var(--line);border-radius:.75rem;
    padding:1.25rem;margin:1rem 0}
    .tiles{display:flex;flex-wrap:wrap;gap:1px;background:var(--line);overflow:hidden;padding:0}
    .tile{background:var(--card);padding:1rem 1.25rem;flex:1 1 16rem}
    .big{font-size:1.625rem;font-weight:650;line-height:1.25}
    .tile:first-child .big,summary{color:var(--accent)}
    figure,table,details{margin-top:1.25rem}
    figcaption{margin-bottom:.5rem;line-height:1.3}
    .plot{position:relative;margin:0 .25rem 1.75rem 3.25rem;height:8.5rem}
    .bars .plot{margin-left:5rem;height:calc(var(--rows)*2.25rem)}
    .map .plot{margin:0 0 1.75rem;height:auto;aspect-ratio:10000/var(--height)}
    svg{display:block;width:100%;height:100%}
    .strip svg{overflow:visible;clip-path:inset(-.5rem 0);border-bottom:1px solid var(--path)}
    .bars svg{border-left:1px solid var(--path)}
    .map svg{border:1px solid var(--line);border-radius:.5rem;background:var(--bg)}
    path,.k{--c:var(--accent);--o:1}
    path{fill:var(--c);fill-opacity:var(--o);stroke-linejoin:round;vector-effect:non-scaling-stroke}
    .grid,.curve,.bound,.trackline,.gap,.deliveries,.fix,.ring,.start,.end{fill:none;
    stroke:var(--c);stroke-width:1.75;stroke-linecap:round}
    .grid,.blank{--c:var(--line);stroke-width:1}
    .bars .grid{stroke:none}
    .band,.r3{--o:.2}
    .area,.blank,.r1{--o:.6}
    .r2{--o:.36}
    .over{--c:var(--bad)}
    .plain{--c:var(--plain)}
    .trackline,.gap{--c:var(--path)}
    .bound,.deliveries,.ring,.end{--c:var(--ink)}
    .start{--c:var(--card);stroke-width:10}
    .gap,.bound{stroke-dasharray:5 4;stroke-linecap:butt}
    .deliveries,.fix{stroke-width:4.5}
    .many{stroke-width:3}
    .ring{stroke-width:15}
    .end{stroke-width:7}
    .y,.x,.pin{position:absolute;line-height:1;white-space:nowrap;transform:translate(-50%,.45rem)}
    .y{transform:translate(calc(-100% - .5rem),-50%)}
    .pin{font-weight:650;font-size:.8125rem;transform:translate(.75rem,-50%)}
    .key{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem}
    .k::before{content:"";display:inline-block;width:.75rem;height:.75rem;border-radius:.15rem;
    margin-right:.4rem;vertical-align:-.08rem;background:var(--c);opacity:var(--o)}
    .k.curve::before,.k.trackline::before,.k.gap::before,.k.bound::before{height:0;border-radius:0;
    width:1.1rem;border-top:2px solid var(--c);background:none;vertical-align:.22rem}
    .k.gap::before,.k.bound::before{border-top-style:dashed}
    .k.fix::before,.k.deliveries::before,.k.start::before,.k.end::before{width:.5rem;height:.5rem;
    border-radius:50%;vertical-align:.05rem}
    .k.start::before{outline:2px solid var(--ink)}
    table{border-collapse:collapse;width:100%;font-size:.875rem;overflow-wrap:break-word}
    th,td{text-align:right;padding:.35rem .3rem;border-top:1px solid var(--line);font-weight:400}
    td{unicode-bidi:isolate;white-space:nowrap}
    td:nth-child(2):last-child{white-space:normal;overflow-wrap:anywhere}
    th:first-child{text-align:left}
    .scroll{overflow-x:auto;white-space:nowrap}
    summary{cursor:pointer}
    @media(max-width:36rem){main{padding:1.25rem .75rem}section{padding:1rem .875rem}
    .tile{padding:.75rem .875rem;flex-basis:40%}.big,h1{font-size:1.3125rem}
    table,table .note{font-size:.75rem}
    .strip .note{display:block}.strip .plot{height:7rem;margin:0 .7rem 1.75rem 2.6rem}}
    @media print{body{background:none}section,.tiles{break-inside:avoid}}
    """
}
