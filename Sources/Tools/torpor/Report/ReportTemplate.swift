/// The template of the report: markup, style sheet and script of the page.
///
/// One accent colour, greys, and a warning colour for errors above the bound. Text has a contrast of at least 4.5 to 1
/// against its background (WCAG 2.1, 1.4.3). Style sheet and script contain no character that needs escaping in XML.
enum ReportTemplate {
  /// The page.
  static func page(
    title: String, heading: HTML, lead: String, tiles: [HTML], map: HTML, timeUnit: String,
    charts: [HTML], notices: HTML?, table: HTML, energy: HTML?,
    settings: [(name: String, value: String)], data: HTML
  ) -> HTML {
    let settings = settings.map {
      "<dt>\($0.name)</dt><dd><bdi>\($0.value)</bdi></dd>" as HTML
    }
    let energy: HTML? = energy.map { "\n<section><h2>Energy</h2>\($0)</section>" }
    // The empty icon keeps browsers from requesting favicon.ico.
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head><meta charset="utf-8"/>
      <meta name="viewport" content="width=device-width, initial-scale=1"/>
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
      style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"/>
      <meta name="color-scheme" content="light dark"/>
      <meta name="generator" content="torpor \(Torpor.version)"/>
      <link rel="icon" href="data:,"/>
      <title>\(title)</title>
      <style>\(HTML(markup: style))</style></head>
      <body><main>
      <header><p class="note">Simulated run</p><h1>\(heading)</h1><p class="lead">\(lead)</p></header>
      <dl class="\(tiles.count > 4 ? "tiles many" : "tiles")">\(tiles)</dl>
      <section><h2>Track</h2>\(map)</section>
      <section><h2>Over time</h2>
      <p class="lead">Time since the start of the run, in \(timeUnit).</p>\(charts)\(notices)
      <details><summary>Table of values</summary><div class="scroll">\(table)</div></details>\
      </section>\(energy)
      <footer><details><summary>Settings</summary><dl class="settings">\(settings)</dl></details>
      <p class="note">Created by torpor simulate, version \(Torpor.version).</p></footer>
      </main>
      <script type="application/json" id="data">\(data)</script>
      <script>\(HTML(markup: script))</script>
      </body>
      </html>

      """
  }

  /// Shows the values of the interval below the pointer, from the page's JSON.
  private static let script = """

    const data = JSON.parse(document.getElementById("data").textContent);
    for (const figure of document.querySelectorAll("figure.strip")) {
      const plot = figure.querySelector(".plot"), chart = data.charts[figure.dataset.chart];
      const box = document.createElement("div"), tip = document.createElement("span");
      box.className = "here";
      tip.className = "tip";
      const hide = () => { box.remove(); tip.remove(); };
      const show = event => {
        const frame = plot.getBoundingClientRect(), step = data.interval_s / data.duration_s;
        const last = data.from.length - 1, part = (event.clientX - frame.left) / frame.width;
        const index = Math.max(0, Math.min(last, Math.floor(part / step)));
        const values = chart.columns.map(column => {
          const value = column.values[index];
          return value === null ? "not counted" : `${column.name} ${value.toLocaleString("en")} ${column.unit}`;
        });
        box.style.left = `${index * step * 100}%`;
        box.style.width = `${Math.min(step, 1 - index * step) * 100}%`;
        tip.textContent = `from ${data.from[index]}: ${values.map(text => text.trim()).join(", ")}`;
        tip.classList.toggle("left", part > 0.5);
        tip.style.left = `${Math.max(0, Math.min(1, part)) * 100}%`;
        plot.append(box, tip);
      };
      plot.addEventListener("pointermove", show);
      plot.addEventListener("pointerdown", show);
      plot.addEventListener("pointerleave", hide);
    }

    """

  private static let style = """

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
    .note,.lead,.key{color:var(--soft)}
    .note,.key{font-size:.8125rem}
    .lead{font-size:.9375rem;margin:.25rem 0 .75rem;overflow-wrap:anywhere}
    header .lead{margin:.5rem 0 1.25rem}
    section{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.25rem;\
    margin-top:1rem}
    .tiles{display:flex;flex-wrap:wrap;gap:1px;background:var(--line);border:1px solid var(--line);\
    border-radius:.75rem;overflow:hidden}
    .tile{background:var(--card);padding:1rem 1.25rem;flex:1 1 13rem}
    .many .tile{flex-basis:17rem}
    .tile dt{font-size:.8125rem;color:var(--soft)}
    .big{font-size:1.625rem;font-weight:650;line-height:1.25;letter-spacing:-.01em}
    .first .big{color:var(--accent)}
    figcaption{margin-bottom:.5rem;line-height:1.3}
    figcaption b{font-size:.9375rem;font-weight:650}
    .strip,.bars{padding-bottom:1.25rem}
    .plot{position:relative}
    .strip .plot{height:8.5rem;margin:0 .25rem 1.75rem 3.25rem}
    .bars .plot{margin:0 .25rem 1.75rem 5rem}
    .map .plot{border:1px solid var(--line);border-radius:.5rem;overflow:hidden;background:var(--bg)}
    svg{display:block;width:100%;height:100%;overflow:visible}
    .strip svg{clip-path:inset(-.5rem 0);border-bottom:1px solid var(--path)}
    .bars svg{border-left:1px solid var(--path)}
    path{fill:none;vector-effect:non-scaling-stroke;stroke-linecap:round;stroke-linejoin:round}
    .grid{stroke:var(--line);stroke-width:1}
    .bars .grid{stroke:none}
    .band{fill:var(--accent);fill-opacity:.2}
    .curve{stroke:var(--accent);stroke-width:1.75}
    .columns,.area{fill:var(--accent);fill-opacity:.55}
    .over{fill:var(--bad)}
    .blank{fill:var(--line);fill-opacity:.55}
    .bound{stroke:var(--ink);stroke-width:1.25;stroke-dasharray:5 4;stroke-linecap:butt}
    .deliveries{stroke:var(--ink);stroke-width:5}
    .r0,.r1,.r2,.r3{fill:var(--accent);--o:1;fill-opacity:var(--o)}
    .r1{--o:.62}.r2{--o:.36}.r3{--o:.2}
    .plain{fill:var(--plain)}
    .trackline{stroke:var(--path);stroke-width:2}
    .gap{stroke:var(--path);stroke-width:1.5;stroke-dasharray:2 5}
    .fix{stroke:var(--accent);stroke-width:4.5;stroke-opacity:.75}
    .many.fix{stroke-width:3}
    .end{stroke:var(--ink);stroke-width:13}
    .core{stroke:var(--card);stroke-width:6}
    .y,.x,.pin,.scale,.north,.tip{position:absolute;font-size:.75rem;line-height:1;color:var(--soft);\
    white-space:nowrap}
    .y{right:calc(100% + .5rem);transform:translateY(-50%)}
    .x{top:calc(100% + .45rem);transform:translateX(-50%)}
    .x.last{transform:translateX(-85%)}
    .pin,.tip{font-size:.8125rem;line-height:1.2;color:var(--ink);background:var(--card);\
    border:1px solid var(--line);padding:.125rem .4rem;border-radius:.3rem}
    .pin{font-weight:650;transform:translate(.75rem,-50%)}
    .pin.left{transform:translate(calc(-100% - .75rem),-50%)}
    .tip{top:.25rem;transform:translateX(.75rem);max-width:60%;white-space:normal;pointer-events:none}
    .tip.left{transform:translateX(calc(-100% - .75rem))}
    .here{position:absolute;top:0;bottom:0;background:var(--ink);opacity:.08;pointer-events:none}
    .under{position:relative;height:1.75rem}
    .scale{left:0;bottom:0;border:solid var(--ink);border-width:0 1.5px 1.5px;padding:0 0 .25rem;\
    text-align:center;font-size:.8125rem;color:var(--ink)}
    .north{right:0;bottom:.25rem;font-size:.8125rem}
    .key{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin-top:.6rem}
    .k::before{content:"";display:inline-block;width:.75rem;height:.75rem;border-radius:.15rem;\
    margin-right:.4rem;vertical-align:-.08rem;background:var(--accent);opacity:var(--o,1)}
    .k.band::before{--o:.2}
    .k.area::before{--o:.55}
    .k.over::before{background:var(--bad)}
    .k.blank::before{background:var(--line)}
    .k.curve::before,.k.trackline::before,.k.gap::before,.k.bound::before{height:0;width:1.1rem;\
    border-top:2px solid var(--path);background:none;border-radius:0;vertical-align:.22rem}
    .k.curve::before{border-color:var(--accent)}
    .k.gap::before{border-top-style:dotted}
    .k.bound::before{border-top:1.5px dashed var(--ink)}
    .k.fix::before,.k.deliveries::before{width:.4rem;height:.4rem;border-radius:50%;vertical-align:.1rem}
    .k.deliveries::before{background:var(--ink)}
    table{border-collapse:collapse;width:100%;font-size:.875rem;margin-top:1rem}
    th,td{text-align:right;padding:.35rem .3rem;border-top:1px solid var(--line);font-weight:400}
    thead th{border-top:0;color:var(--soft);font-size:.8125rem;vertical-align:bottom}
    td{white-space:nowrap}
    td.wide{white-space:normal}
    th:first-child{text-align:left;padding-left:0}
    td:last-child,th:last-child{padding-right:0}
    .scroll{overflow-x:auto}
    .scroll th,.scroll td{padding:.35rem .5rem;white-space:nowrap}
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
    .big{font-size:1.3125rem}.strip .note{display:block}\
    .strip .plot{height:7rem;margin-left:2.6rem}.tip{max-width:75%}}
    @media print{body{background:none}section,.tiles{break-inside:avoid}}

    """
}
