import TestSupport
import Testing
import TextFormats

@Suite("Prometheus' text format")
struct PrometheusTextTests {
  @Test("a metric has its description, its type and its samples")
  func lines() {
    var text = PrometheusText()
    text.begin("torpor_energy_joules_total", .counter, "Energy.")
    text.sample(1_500, scale: 3, [("part", "receiver")])
    text.sample(-2, scale: 6, [("part", "board"), ("state", "off")])
    text.begin("torpor_clients", .gauge, "Connected clients.")
    text.sample(.max)
    #expect(
      text.string == """
        # HELP torpor_energy_joules_total Energy.
        # TYPE torpor_energy_joules_total counter
        torpor_energy_joules_total{part="receiver"} 1.5
        torpor_energy_joules_total{part="board",state="off"} -0.000002
        # HELP torpor_clients Connected clients.
        # TYPE torpor_clients gauge
        torpor_clients 9223372036854775807

        """)
    let samples = PrometheusSamples(text.string)
    #expect(samples.problems == [] && samples.values.count == 3)
    #expect(samples["torpor_energy_joules_total{part=\"receiver\"}"] == 1.5)
    #expect(samples.kinds["torpor_clients"] == "gauge")
  }

  @Test("quotes, backslashes and line breaks in a label are escaped")
  func escaping() {
    var text = PrometheusText()
    text.begin("torpor_info", .gauge, "Version.")
    text.sample(1, [("board", "a \"b\"\\\nü")])
    #expect(text.string.hasSuffix(#"torpor_info{board="a \"b\"\\\nü"} 1"# + "\n"))
    #expect(PrometheusSamples(text.string).problems == [])
  }

  @Test(
    "the tests' reader rejects what Prometheus rejects",
    arguments: [
      "torpor_a 1\n", "# HELP torpor_a A.\n# TYPE torpor_a gauge\n",
      "# HELP torpor_a A.\n# TYPE torpor_a gauge\ntorpor_a 1 1700000000000\n",
      "# HELP torpor_a A.\n# TYPE torpor_a counter\ntorpor_a 1\n",
      "# HELP torpor_a A.\n# TYPE torpor_a gauge\ntorpor_a 1",
      "# HELP torpor_a A.\n# TYPE torpor_a gauge\ntorpor_a 1\ntorpor_a 2\n",
      "# HELP torpor_a A.\n# TYPE torpor_a gauge\ntorpor_a{b=1} 1\n",
      "# HELP torpor_a A.\n# TYPE torpor_a gauge\ntorpor_b 1\n",
      "# HELP Torpor A.\n# TYPE Torpor gauge\nTorpor 1\n", "\n",
    ])
  func strict(_ text: String) {
    #expect(PrometheusSamples(text).problems != [], "\(text)")
  }
}
