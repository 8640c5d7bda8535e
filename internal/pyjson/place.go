package pyjson

import (
	"regexp"
	"strconv"
	"strings"
)

// maxSteps limits how deep a place is described.
const maxSteps = 12

// step is one open container on the way to an offset.
type step struct {
	object bool
	count  int  // members or elements begun before the offset
	key    int  // offset of the key of the last member begun
	atKey  bool // a string that follows is a key
}

// place describes where in the value b the offset at lies: "content[2].ratio". Members whose names do not look like
// identifiers are shown by their number, counted from 1: they may be content. What stands before at must be valid.
func place(b []byte, at int) string {
	var steps []step
	top := &step{}
	for i := 0; i < at; i++ {
		switch b[i] {
		case '"':
			if top.object && top.atKey {
				top.key, top.atKey = i, false
				top.count++
			}
			i = skipString(b, i) - 1
		case '{', '[':
			steps = append(steps, step{object: b[i] == '{', atKey: true})
			top = &steps[len(steps)-1]
		case '}', ']':
			steps = steps[:max(len(steps)-1, 0)]
			top = &step{}
			if len(steps) > 0 {
				top = &steps[len(steps)-1]
			}
		case ',':
			top.atKey = true
			if !top.object {
				top.count++
			}
		}
	}
	return describe(b, steps)
}

func describe(b []byte, steps []step) string {
	var out strings.Builder
	for n, s := range steps {
		if n == maxSteps {
			out.WriteString("...")
			break
		}
		if !s.object {
			out.WriteString("[" + strconv.Itoa(s.count) + "]")
			continue
		}
		if n > 0 {
			out.WriteByte('.')
		}
		out.WriteString(memberName(b, s))
	}
	return out.String()
}

// memberName shows a name that is safe to show, else the member's number.
func memberName(b []byte, s step) string {
	name := Text(b[s.key:skipString(b, s.key)])
	if ok, _ := regexp.MatchString(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`, name); ok {
		return name
	}
	return "member " + strconv.Itoa(s.count)
}
