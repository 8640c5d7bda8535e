package pyjson

// Span is a member of an object as offsets.
type Span struct {
	Key, KeyEnd     int // with its quotes
	Value, ValueEnd int

	// Typed tells that the value may hold an object in an array, with a type that is neither text nor thinking.
	Typed bool
}
