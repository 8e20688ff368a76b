@main struct Torpor { static func main() { print("torpor") } }
