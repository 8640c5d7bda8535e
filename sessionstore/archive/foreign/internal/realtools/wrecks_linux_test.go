package realtools

import (
	"bytes"
	"encoding/base64"
	pictures "image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// wrecks are the ways in which sessions break that the tools wrote: files that were cut and
// joined, and what other programs and older versions leave in them.
var wrecks = slices.Concat(wrecksOfClaude, wrecksOfCodex)

// How the lines that get other content are found.
var (
	promptOfClaude = []string{`"two made up"`, `"parentUuid"`, `"role":"user"`}
	answerOfClaude = []string{`"parentUuid"`, `"type":"assistant"`, `"type":"text"`}
	callOfClaude   = []string{`"parentUuid"`, `"type":"tool_use"`}
	resultOfClaude = []string{`"parentUuid"`, `"type":"tool_result"`}
	promptOfCodex  = []string{`"two made up"`, `"response_item"`, `"user"`}
	callOfCodex    = []string{`"response_item"`, `"function_call"`}
)

func claudePicture(kind, data string) object {
	return object{"type": "image", "source": object{"type": "base64", "media_type": kind, "data": data}}
}

func showing(pictures ...any) func(lines [][]byte) []byte {
	return change(promptOfClaude, func(row object) {
		inside(row, "message")["content"] = append([]any{object{"type": "text", "text": "two made up"}}, pictures...)
	})
}

func first(row object, what string, to func(block object)) {
	content, _ := inside(row, "message")["content"].([]any)
	for _, b := range content {
		if block, ok := b.(object); ok && block["type"] == what {
			to(block)
		}
	}
}

func times(n int, v any) (all []any) {
	for range n {
		all = append(all, v)
	}
	return all
}

// lines that are cut and joined, of both tools: words name the line.
func torn(words ...string) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		lines[n] = lines[n][:len(lines[n])/2]
		return whole(lines)
	}
}

func gone(words ...string) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		return whole(slices.Delete(lines, n, n+1))
	}
}

func zeros(words ...string) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		lines[n] = append(make([]byte, 700), lines[n]...)
		return whole(lines)
	}
}

func halved(words ...string) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		lines[n] = append(bytes.Clone(lines[n][:2*len(lines[n])/3]), lines[n]...)
		return whole(lines)
	}
}

func joined2(words ...string) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		lines[n] = append(bytes.Clone(lines[n]), lines[n+1]...)
		return whole(slices.Delete(lines, n+1, n+2))
	}
}

func swapped(words ...string) func(lines [][]byte) []byte {
	return func(lines [][]byte) []byte {
		n := which(lines, words...)
		lines[n], lines[n+1] = lines[n+1], lines[n]
		return whole(lines)
	}
}

var wrecksOfClaude = func() (all []wreck) {
	add := func(name string, cut func(lines [][]byte) []byte, lost ...string) {
		all = append(all, wreck{foreign.Claude, name, lost, cut})
	}
	add("wide picture", showing(claudePicture("image/png", pictureOf(9000, 100))))
	add("high picture", showing(claudePicture("image/png", pictureOf(100, 8100))))
	add("many pictures", showing(times(25, claudePicture("image/png", pictureOf(2100, 100)))...))
	add("wide picture in a result", change(resultOfClaude, func(row object) {
		first(row, "tool_result", func(b object) { b["content"] = []any{claudePicture("image/png", pictureOf(9000, 100))} })
	}))
	add("id of another provider", func(lines [][]byte) []byte {
		n := which(lines, callOfClaude...)
		_, id, _ := strings.Cut(string(lines[n]), `"id":"toolu_`)
		id, _, _ = strings.Cut("toolu_"+id, `"`)
		return bytes.ReplaceAll(whole(lines), []byte(id), []byte("call:1|fc.2"))
	})
	add("arguments as a text", change(callOfClaude, func(row object) {
		first(row, "tool_use", func(b object) { b["input"] = "{" })
	}))
	add("unknown block", change(answerOfClaude, func(row object) {
		m := inside(row, "message")
		m["content"] = append(m["content"].([]any), object{"type": "made_up", "x": 1})
	}))
	add("thinking without a signature", change(answerOfClaude, func(row object) {
		m := inside(row, "message")
		m["content"] = append([]any{object{"type": "thinking", "thinking": "Well."}}, m["content"].([]any)...)
	}))
	add("call in a prompt", showing(object{"type": "tool_use", "id": "toolu_x", "name": "Read", "input": object{}}))
	add("line torn", torn(answerOfClaude...), "answer number 1.", "answer number 2.", "answer number 3.")
	add("prompt torn", torn(promptOfClaude...), "two made up")
	add("line gone", gone(promptOfClaude...), "two made up")
	add("NULs in a line", zeros(promptOfClaude...))
	add("half before whole", halved(promptOfClaude...))
	add("half before whole answer", halved(answerOfClaude...))
	add("call without a result", gone(resultOfClaude...))
	add("result without a call", gone(callOfClaude...))
	add("wide jpeg", showing(claudePicture("image/jpeg", wideJPEG())))
	add("wide gif", showing(claudePicture("image/gif", wideGIF())))
	add("large picture", showing(claudePicture("image/png", noise(8<<20))))
	add("large pictures", showing(times(5, claudePicture("image/png", noise(6<<20)))...))
	add("empty id", func(lines [][]byte) []byte {
		n := which(lines, callOfClaude...)
		_, id, _ := strings.Cut(string(lines[n]), `"id":"toolu_`)
		id, _, _ = strings.Cut("toolu_"+id, `"`)
		return bytes.ReplaceAll(whole(lines), []byte(`"`+id+`"`), []byte(`""`))
	})
	add("arguments as a list", change(callOfClaude, func(row object) { first(row, "tool_use", func(b object) { b["input"] = []any{1} }) }))
	add("arguments as an object's text", change(callOfClaude, func(row object) { first(row, "tool_use", func(b object) { b["input"] = `{"file_path":"a"}` }) }))
	add("no arguments", change(callOfClaude, func(row object) { first(row, "tool_use", func(b object) { b["input"] = nil }) }))
	add("call without a name", change(callOfClaude, func(row object) { first(row, "tool_use", func(b object) { b["name"] = "" }) }))
	add("thinking with null", change(answerOfClaude, func(row object) {
		m := inside(row, "message")
		m["content"] = append([]any{object{"type": "thinking", "thinking": "Well.", "signature": nil}}, m["content"].([]any)...)
	}))
	add("redacted thinking without data", change(answerOfClaude, func(row object) {
		m := inside(row, "message")
		m["content"] = append([]any{object{"type": "redacted_thinking"}}, m["content"].([]any)...)
	}))
	add("unknown block in a prompt", showing(object{"type": "made_up"}))
	add("three in a line", func(lines [][]byte) []byte {
		n := which(lines, promptOfClaude...)
		lines[n] = slices.Concat(lines[n], lines[n+1], lines[n+2])
		return whole(slices.Delete(lines, n+1, n+3))
	})
	add("NULs and half before whole", func(lines [][]byte) []byte {
		n := which(lines, promptOfClaude...)
		lines[n] = slices.Concat(lines[n][:40], make([]byte, 100), lines[n])
		return whole(lines)
	})
	return all
}()

var wrecksOfCodex = func() (all []wreck) {
	add := func(name string, cut func(lines [][]byte) []byte, lost ...string) {
		all = append(all, wreck{foreign.Codex, name, lost, cut})
	}
	add("long id", func(lines [][]byte) []byte {
		n := which(lines, callOfCodex...)
		_, id, _ := strings.Cut(string(lines[n]), `"call_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		return bytes.ReplaceAll(whole(lines), []byte(`"`+id+`"`), []byte(`"`+strings.Repeat("c", 80)+`"`))
	})
	add("empty id", func(lines [][]byte) []byte {
		n := which(lines, callOfCodex...)
		_, id, _ := strings.Cut(string(lines[n]), `"call_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		return bytes.ReplaceAll(whole(lines), []byte(`"`+id+`"`), []byte(`""`))
	})
	add("bad name", change(callOfCodex, func(row object) { inside(row, "payload")["name"] = "a tool/of.another" }))
	add("role", change(promptOfCodex, func(row object) { inside(row, "payload")["role"] = "human" }))
	add("head torn", torn(`"session_meta"`))
	add("head gone", gone(`"session_meta"`))
	add("NULs in the head", zeros(`"session_meta"`))
	add("half before the head", halved(`"session_meta"`))
	add("two in the first line", joined2(`"session_meta"`))
	add("head second", swapped(`"session_meta"`))
	add("NULs in a line", zeros(promptOfCodex...))
	add("half before whole", halved(promptOfCodex...))
	add("two in a line", joined2(promptOfCodex...))
	add("half a character", func(lines [][]byte) []byte {
		n := which(lines, promptOfCodex...)
		lines[n] = bytes.Replace(lines[n], []byte(`two made up`), []byte(`two made up \ud83d`), 1)
		return whole(lines)
	})
	add("head of zeros", func(lines [][]byte) []byte {
		lines[0] = make([]byte, len(lines[0]))
		return whole(lines)
	})
	add("two lines torn at the beginning", func(lines [][]byte) []byte {
		lines[0], lines[1] = lines[0][:10], lines[1][:10]
		return whole(lines)
	})
	add("end of another file before the head", func(lines [][]byte) []byte {
		lines[0] = append(bytes.Clone(lines[3][len(lines[3])/2:]), lines[0]...)
		return whole(lines)
	})
	add("another line before the head", func(lines [][]byte) []byte { return whole(append([][]byte{[]byte("garbage")}, lines...)) })
	answer := []string{`"response_item"`, `"assistant"`, "Made-up"}
	add("NULs in an answer", zeros(answer...))
	add("half before whole answer", halved(answer...))
	add("two in a line of an answer", joined2(answer...))
	add("half a character in an answer", func(lines [][]byte) []byte {
		n := which(lines, answer...)
		lines[n] = bytes.Replace(lines[n], []byte(`Made-up answer`), []byte(`\ud83d Made-up answer`), 1)
		return whole(lines)
	})
	add("three in a line", func(lines [][]byte) []byte {
		n := which(lines, promptOfCodex...)
		lines[n] = slices.Concat(lines[n-1], lines[n], lines[n+1])
		return whole(slices.Delete(slices.Delete(lines, n+1, n+2), n-1, n))
	})
	add("long name", change(callOfCodex, func(row object) { inside(row, "payload")["name"] = strings.Repeat("n", 200) }))
	add("no name", change(callOfCodex, func(row object) { inside(row, "payload")["name"] = "" }))
	add("unknown part", change(promptOfCodex, func(row object) {
		p := inside(row, "payload")
		p["content"] = append(p["content"].([]any), object{"type": "made_up"})
	}))
	add("part without a text", change(promptOfCodex, func(row object) {
		p := inside(row, "payload")
		p["content"] = append(p["content"].([]any), object{"type": "input_text"})
	}))
	add("role of a tool", change(promptOfCodex, func(row object) { inside(row, "payload")["role"] = "tool" }))
	add("answer in a prompt", change(promptOfCodex, func(row object) {
		p := inside(row, "payload")
		p["content"] = append(p["content"].([]any), object{"type": "output_text", "text": "x"})
	}))
	return all
}()

func wideJPEG() string {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, pictures.NewGray(pictures.Rect(0, 0, 8200, 10)), nil) // it goes to memory
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func wideGIF() string {
	var b bytes.Buffer
	_ = gif.Encode(&b, pictures.NewPaletted(pictures.Rect(0, 0, 8200, 10), color.Palette{color.Black, color.White}), nil) // it goes to memory
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// noise returns a PNG of some bytes, which cannot be smaller, in base64.
func noise(size int) string {
	p := pictures.NewGray(pictures.Rect(0, 0, 4000, size/4000))
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(p.Pix) // it always succeeds
	var b bytes.Buffer
	_ = png.Encode(&b, p) // it goes to memory
	return base64.StdEncoding.EncodeToString(b.Bytes())
}
