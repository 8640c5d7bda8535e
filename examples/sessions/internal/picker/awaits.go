package picker

// awaited is an answer that a person waits for. Answers come late, and in any order:
// only that to the last question counts, and it counts once.
type awaited struct {
	kind answerKind
	key  Key
}

type answerKind int

const (
	noAnswer answerKind = iota
	ofPlan
	ofCheck
	ofTurns
)

// arrived reports whether an answer is the awaited one. Then none is awaited any
// more.
func (a *awaited) arrived(kind answerKind, key Key) bool {
	if *a != (awaited{kind, key}) {
		return false
	}
	*a = awaited{noAnswer, Key{}}
	return true
}
