package pyjson

import "iter"

// Pick returns the elements of an array in their order, each with the value of its last member called name, nil for an
// element that has none. It goes through the text once, where Elements and Lookup would do so twice. The slices share
// arr's memory.
func Pick(arr []byte, name string) iter.Seq2[[]byte, []byte] {
	return func(yield func(element, value []byte) bool) {
		i := enter(arr, '[')
		for i < len(arr) {
			var value []byte
			end := i
			if arr[i] == '{' {
				value, end = pick(arr, i, name)
			} else {
				end = skipValue(arr, i)
			}
			if end == i || !yield(arr[i:end], value) {
				return
			}
			i = afterComma(arr, end)
		}
	}
}

// pick returns the value of the last member called name of the object that begins at i, and the index behind the
// object.
func pick(b []byte, i int, name string) (value []byte, end int) {
	end = i + 1
	for m := range Members(b[i:]) {
		end = i + m.ValueAt + len(m.Value)
		if KeyIs(m.Key, name) {
			value = m.Value
		}
	}
	if end = skipSpace(b, end); end < len(b) && b[end] == '}' {
		end++
	}
	return value, end
}
