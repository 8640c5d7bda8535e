package hybrid

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A proxy stands between devices and a server. It has faults of the network and
// of the service.
type proxy struct {
	url    string
	target *url.URL
	client *http.Client

	mu       sync.Mutex // guards what follows
	rand     *rand.Rand
	odds     float64        // of a request that it has a fault
	faults   []string       // the faults that it may have
	injected map[string]int // how often each was
	requests int
	units    float64
}

// proxyFaults are what happens to a request.
var proxyFaults = []string{
	"reset",     // the connection breaks before the request is read
	"drop",      // it breaks before the request is served
	"lose",      // it breaks before the answer
	"cut",       // it breaks amid the answer
	"hang",      // there is no answer
	"trickle",   // the answer comes byte by byte
	"late",      // the request arrives late
	"twice",     // the request is served twice
	"portal",    // somebody else answers, with a page
	"redirect",  // somebody else sends the client to a page
	"refuse401", // what the account answers
	"refuse408",
	"refuse429",
	"refuse449",
	"refuse500",
	"refuse503",
}

const portalPage = "<!DOCTYPE html><title>Welcome</title><p>Sign in to use this network."

func newProxy(t *testing.T, endpoint string, client *http.Client, seed uint64) *proxy {
	t.Helper()
	target, err := url.Parse(endpoint)
	require.NoError(t, err)
	p := &proxy{target: target, client: client, rand: rand.New(rand.NewPCG(seed, 16)), injected: map[string]int{}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

// weather makes requests have these faults with these odds from now on.
func (p *proxy) weather(odds float64, faults ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.odds, p.faults = odds, faults
}

// fault returns the fault of the next request, or none.
func (p *proxy) fault() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if len(p.faults) == 0 || p.rand.Float64() >= p.odds {
		return ""
	}
	f := p.faults[p.rand.IntN(len(p.faults))]
	p.injected[f]++
	return f
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault := p.fault()
	if fault == "reset" {
		breakOff(w)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		breakOff(w)
		return
	}
	switch fault {
	case "drop":
		breakOff(w)
		return
	case "hang":
		<-r.Context().Done()
		return
	case "late":
		time.Sleep(50 * time.Millisecond)
	case "portal":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, portalPage) // the client may be gone
		return
	case "redirect":
		http.Redirect(w, r, p.url+"/welcome.html", http.StatusFound)
		return
	}
	var status int
	if _, err := fmt.Sscanf(fault, "refuse%d", &status); err == nil {
		refuse(w, status)
		return
	}
	if r.URL.Path == "/welcome.html" {
		_, _ = io.WriteString(w, portalPage)
		return
	}
	answer, content, err := p.pass(r, body)
	if err == nil && fault == "twice" {
		answer, content, err = p.pass(r, body)
	}
	if err != nil || fault == "lose" {
		breakOff(w)
		return
	}
	p.answer(w, answer, content, fault)
}

// pass sends the request to the server and reads its answer.
func (p *proxy) pass(r *http.Request, body []byte) (*http.Response, []byte, error) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, p.target.ResolveReference(r.URL).String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	out.Header = r.Header.Clone()
	answer, err := p.client.Do(out)
	if err != nil {
		return nil, nil, err
	}
	content, err := io.ReadAll(answer.Body)
	if err == nil {
		err = answer.Body.Close()
	}
	charge, _ := strconv.ParseFloat(answer.Header.Get("x-ms-request-charge"), 64)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.units += charge
	return answer, content, err
}

// answer writes the server's answer: whole, in part, or byte by byte.
func (p *proxy) answer(w http.ResponseWriter, answer *http.Response, content []byte, fault string) {
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	switch fault {
	case "cut":
		_, _ = w.Write(content[:len(content)/2])
		breakOff(w)
	case "trickle":
		for i := range content[:min(len(content), 300)] {
			_, _ = w.Write(content[i : i+1])
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
		_, _ = w.Write(content[min(len(content), 300):])
	default:
		_, _ = w.Write(content)
	}
}

// refuse answers as the service does that cannot serve a request.
func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("x-ms-retry-after-ms", "5")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"code":"%d","message":"refused by the test"}`, status)
}

// breakOff resets the connection of an answer.
func breakOff(w http.ResponseWriter) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = buffered.Flush() // what was written of the answer
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
