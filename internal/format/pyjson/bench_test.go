package pyjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// benchMessages are messages as found in practice, of about 1.2 kB each, and one long event.
func benchMessages() map[string][]byte {
	prose := strings.Repeat("The parser reads one value, then \\\"looks\\\" for the next.\\n", 17)
	wide := strings.Repeat("Größe ändert sich nicht — 大きさは同じ。", 20)
	tool := `{"role": "assistant", "content": null, "tool_calls": [{"id": "call_%d", "type": "function", "function": ` +
		`{"name": "read_file", "arguments": "{\"path\": \"src/main.go\", \"from\": 1, \"to\": 200}"}}], ` +
		`"metadata": {"timestamp": "2026-01-02T03:04:05.678+00:00", "usage": {"input": 1234, "output": 56, "ratio": 0.25}}}`
	calls := make([]string, 300)
	for i := range calls {
		calls[i] = fmt.Sprintf(tool, i)
	}
	return map[string][]byte{
		"prose":      []byte(`{"role": "user", "content": "` + prose + `", "metadata": {"timestamp": "2026-01-02T03:04:05.678+00:00"}}`),
		"wide":       []byte(`{"role": "user", "content": "` + wide + `", "metadata": {"timestamp": "2026-01-02T03:04:05.678+00:00"}}`),
		"toolcall":   []byte(`{"calls": [` + strings.Join(calls[:3], ", ") + `]}`),
		"event=120K": []byte(`{"data": [` + strings.Join(calls, ", ") + `]}`),
	}
}

func each(b *testing.B, run func(b *testing.B, raw []byte)) {
	b.Helper()
	for name, raw := range benchMessages() {
		b.Run("text="+name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			run(b, raw)
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	each(b, func(b *testing.B, raw []byte) {
		for b.Loop() {
			if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkEncodingJSONValid(b *testing.B) {
	each(b, func(b *testing.B, raw []byte) {
		for b.Loop() {
			if !json.Valid(raw) {
				b.Fatal("not valid")
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	each(b, func(b *testing.B, raw []byte) {
		for b.Loop() {
			if _, err := pyjson.Append(nil, raw, pyjson.Style{Finite: true, Portable: true, Replace: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendMessage(b *testing.B) {
	each(b, func(b *testing.B, raw []byte) {
		for b.Loop() {
			if _, err := pyjson.AppendMessage(nil, raw, pyjson.Style{Finite: true, Portable: true, Replace: true}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	each(b, func(b *testing.B, raw []byte) {
		for b.Loop() {
			pyjson.Lookup(raw, "role")
		}
	})
}

func BenchmarkText(b *testing.B) {
	each(b, func(b *testing.B, raw []byte) {
		content, ok := pyjson.Lookup(raw, "content")
		if !ok {
			content = []byte(`"short"`)
		}
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			pyjson.Text(content)
		}
	})
}
