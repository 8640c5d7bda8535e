package pyjson

// Style says how values are written. The zero Style is json.dumps(v, ensure_ascii=False).
type Style struct {
	Indent   int  // spaces a level; 0 is one line
	Compact  bool // separators "," and ":" instead of ", " and ": "
	ASCII    bool // \u escapes for DEL and everything beyond ASCII, in surrogate pairs beyond U+FFFF
	Portable bool // \u escapes for U+0085, U+2028 and U+2029, at which some tools break lines
	SortKeys bool // members at every level by name, in the order of code points
	Redact   bool // "[REDACTED]" as the value of every member with a secret's name
	Finite   bool // refuse NaN, infinities and floats that overflow
	KeepBig  bool // a float that overflows keeps its text, which the newer tools read, and does not become Infinity, which they refuse
	Replace  bool // U+FFFD for lone surrogates, which else are written as escapes
	MaxDepth int  // containers that may be nested; 0 and more than MaxDepth mean MaxDepth
}

// rewritten returns the flags of strings that cannot be copied as they are.
func (st Style) rewritten() flags {
	f := escaped | surrogate
	if st.ASCII {
		f |= wide
	}
	if st.Portable {
		f |= separator
	}
	return f
}
