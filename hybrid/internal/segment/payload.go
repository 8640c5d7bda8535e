package segment

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// maxPayload is the most that a segment or chunk may decompress to: four times
// what is ever written.
const maxPayload = 64 << 20

// encoders keeps the tables of encoders, 1.7 MB each. They work without
// goroutines and channels, and so are as good inside of a testing/synctest
// bubble as outside. Decoders are not: each is used once.
var encoders = sync.Pool{New: func() any {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithAllLitEntropyCompression(true), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	return enc
}}

// compress returns data compressed. The same data gives the same bytes.
func compress(data []byte) ([]byte, error) {
	got := encoders.Get()
	enc, ok := got.(*zstd.Encoder)
	if !ok {
		return nil, fmt.Errorf("compress: %v", got)
	}
	defer encoders.Put(enc)
	var out bytes.Buffer
	enc.ResetContentSize(&out, int64(len(data)))
	if _, err := enc.Write(data); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

func expand(data []byte) ([]byte, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload))
	if err != nil {
		return nil, fmt.Errorf("expand: %w", err)
	}
	defer dec.Close()
	out, err := dec.DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return out, nil
}

// join puts rows one behind the other, each with an LF.
func join(rows []row) []byte {
	var out []byte
	for _, r := range rows {
		out = append(append(out, r.data...), '\n')
	}
	return out
}

var errRows = fmt.Errorf("%w: lines do not fit their number", ErrDamaged)

// split takes apart what join made. Deltas have the length that refs tell, all
// others end at their LF. The rows share data's memory.
func split(data []byte, n int, refs []*ref) ([]row, error) {
	rows := make([]row, 0, min(n, len(data)))
	for i := range n {
		r := row{}
		if len(refs) > 0 && refs[0].I == i {
			r.ref, refs = refs[0], refs[1:]
		}
		end := bytes.IndexByte(data, '\n')
		if r.ref != nil && r.ref.Chunks == nil && r.ref.As == asDelta {
			end = int(min(r.ref.Stored, int64(len(data))))
		}
		if end < 0 || end >= len(data) || data[end] != '\n' {
			return nil, errRows
		}
		r.data, data = data[:end:end], data[end+1:]
		rows = append(rows, r)
	}
	if len(data) > 0 || len(refs) > 0 {
		return nil, errRows
	}
	return rows, nil
}

// Text is bytes in a JSON document: a string where that keeps them, an object
// with their base64 otherwise.
type Text []byte

type encoded struct {
	Data []byte `json:"b64"`
}

// MarshalJSON writes t.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(t) && bytes.IndexByte(t, 0) < 0 {
		quoted, err := marshal(string(t))
		if err != nil || len(quoted) < base64.StdEncoding.EncodedLen(len(t))+len(`{"b64":""}`) || len(t) < 64 {
			return quoted, err
		}
	}
	return json.Marshal(encoded{t})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Text) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		*t = Text(s)
		return err
	}
	var e *encoded
	if err := json.Unmarshal(raw, &e); err != nil || e == nil {
		return errors.New("read text: neither a string nor base64")
	}
	*t = Text(e.Data)
	return nil
}

// marshal is json.Marshal without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
