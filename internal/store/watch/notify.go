package watch

// Event says that something happened at Path, a watched directory or a name
// in one. An empty Path says that events were lost.
type Event struct {
	Path string
}
