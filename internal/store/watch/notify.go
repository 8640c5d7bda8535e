package watch

// Event is a hint of a change at Path, a watched directory or a name in one. An empty
// Path means that events were lost.
type Event struct {
	Path string
}
