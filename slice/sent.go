package slice

// sent is what a provider gets of one message.
type sent struct {
	who       side
	rest      side // whose it is if its results are not counted
	calls     []sentCall
	results   []sentResult
	closes    bool     // results behind it are not adjacent to the calls before it
	reasoning []string // ids of reasoning items
}

// side is whose a message is to a provider.
type side int

const (
	nobody  side = iota // it is not sent: instructions go another way
	aside               // the user's, but written by a tool
	person              // the user's
	answers             // the user's, results of calls
	model               // the assistant's
)

type sentCall struct {
	id     string // "" if it has none
	name   string
	places []place
}

// place is where a call stands: an element of tool_calls, or of content.
type place struct {
	listed bool
	at     int
}

type sentResult struct {
	id    string // "" if it has none
	block int    // the element of content, or -1 for the message as a whole
}
