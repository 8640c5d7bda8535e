package pyjson

import "iter"

// Pick returns the elements of an array in their order, each with what [Values] tells of it. It goes through the text
// once, where Elements and Values would do so twice. The slices share arr's memory.
func Pick(arr []byte, names ...string) iter.Seq2[[]byte, [4][]byte] {
	return func(yield func(element []byte, values [4][]byte) bool) {
		i := enter(arr, '[')
		for i < len(arr) {
			var values [4][]byte
			end := i
			if arr[i] == '{' {
				values, end = pick(arr, i, names)
			} else {
				end = skipValue(arr, i)
			}
			if end == i || !yield(arr[i:end], values) {
				return
			}
			i = afterComma(arr, end)
		}
	}
}

// pick returns the values of the object that begins at i, and the index behind it.
func pick(b []byte, i int, names []string) (values [4][]byte, end int) {
	end = i + 1
	for m := range Members(b[i:]) {
		end = i + m.ValueAt + len(m.Value)
		m.among(names, &values)
	}
	if end = skipSpace(b, end); end < len(b) && b[end] == '}' {
		end++
	}
	return values, end
}
