package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// answered is a line of the record: a request and the account's answer. It holds no names,
// ids, keys or content, only sizes.
type answered struct {
	Part       string  `json:"part"`                 // "questions" or "story"
	Step       string  `json:"step"`                 // of the request, such as "create 1 KB"
	Op         string  `json:"op"`                   // "read", "query", …
	Status     int     `json:"status"`               // of HTTP; 0: no answer came
	SubStatus  int     `json:"substatus,omitempty"`  // of the service
	Operations []int   `json:"operations,omitempty"` // statuses of a batch's operations
	Expected   int     `json:"expected,omitempty"`   // the documented status; 0: any
	Charge     float64 `json:"charge"`               // request units
	Sent       int64   `json:"sent"`                 // bytes of the request's body
	Received   int64   `json:"received"`             // bytes of the answer's body
	Millis     float64 `json:"ms"`
}

// recorder writes the answers of the account to a file, a line of JSON for each request. It
// is a policy of the client.
type recorder struct {
	mu       sync.Mutex // guards the fields below
	file     *os.File
	err      error // the first of file
	part     string
	step     string
	expected int
	lines    int
	other    []string // steps that were answered in another way than expected
}

// newRecorder makes the file, which must not be there.
func newRecorder(name string) (*recorder, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &recorder{file: file}, nil
}

func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.file.Close())
}

// begin sets the part and the step of the next requests. expected is the status of each, or
// 0 when any may come.
func (r *recorder) begin(part, step string, expected int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.part, r.step, r.expected = part, step, expected
}

// Do passes a request on. Requests before the first step are not recorded.
func (r *recorder) Do(req *policy.Request) (*http.Response, error) {
	start := time.Now()
	answer, err := req.Next()
	line := answered{Op: operation(req.Raw()), Sent: max(0, req.Raw().ContentLength)}
	line.Millis = math.Round(float64(time.Since(start).Microseconds())) / 1000
	if err == nil {
		err = line.read(answer)
	}
	r.write(line)
	return answer, err
}

// read records the answer. The body of the answer can still be read afterwards.
func (a *answered) read(answer *http.Response) error {
	body, err := io.ReadAll(answer.Body)
	err = errors.Join(err, answer.Body.Close())
	answer.Body = io.NopCloser(bytes.NewReader(body))
	a.Status, a.Received = answer.StatusCode, int64(len(body))
	a.SubStatus, _ = strconv.Atoi(answer.Header.Get("x-ms-substatus"))
	a.Charge, _ = strconv.ParseFloat(answer.Header.Get("x-ms-request-charge"), 64)
	var results []struct{ StatusCode int }
	if a.Op == "batch" && json.Unmarshal(body, &results) == nil {
		for _, one := range results {
			a.Operations = append(a.Operations, one.StatusCode)
		}
	}
	return err
}

func (r *recorder) write(line answered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.step == "" {
		return
	}
	line.Part, line.Step, line.Expected = r.part, r.step, r.expected
	if line.Expected != 0 && line.Status != line.Expected {
		r.other = append(r.other, line.Step+": "+strconv.Itoa(line.Status)+", not "+strconv.Itoa(line.Expected))
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	r.err = errors.Join(r.err, err)
	r.lines++
}

// operation returns the name of a request's operation.
func operation(r *http.Request) string {
	is := func(name string) bool { return strings.EqualFold(r.Header.Get(name), "true") }
	switch {
	case is("x-ms-cosmos-is-batch-request"):
		return "batch"
	case is("x-ms-documentdb-query"), is("x-ms-documentdb-isquery"):
		return "query"
	case is("x-ms-documentdb-is-upsert"):
		return "upsert"
	case !strings.Contains(r.URL.Path, "/docs"):
		return "control"
	}
	return map[string]string{http.MethodPost: "create", http.MethodPut: "replace", http.MethodDelete: "delete", http.MethodGet: "read"}[r.Method]
}
