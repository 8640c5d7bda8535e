package hybrid

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
)

// life is a device's disk and network, up to a crash.
type life struct {
	name  string
	next  policy.Transporter
	order *order
	end   func()        // releases the remote
	skew  time.Duration // of the device's clock

	mu      sync.Mutex // guards what follows
	left    int        // steps up to the crash; negative: there is none
	crashed bool
	offline bool
	refusal int // status with which the account refuses this device; 0: it does not
	disk    *crashsim.Recorder
	units   float64 // that the answers cost
}

var (
	errCrash     = errors.New("the device crashed")
	errNoNetwork = errors.New("no network")
)

// step counts one change of the disk or one half of a request.
func (l *life) step() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left == 0 {
		l.crashed = true
	}
	if l.crashed {
		return errCrash
	}
	if l.left > 0 {
		l.left--
	}
	return nil
}

func (l *life) seam() *seam.Seam { return &seam.Seam{Before: l.before, After: l.after} }

func (l *life) before(op seam.Op) error {
	err := l.step()
	if err != nil && l.recorder() != nil {
		l.recorder().Refused(op)
	}
	return err
}

// after gives what an operation touched the time of the bubble, as seen by the
// device's clock: the kernel knows another one.
func (l *life) after(op seam.Op) {
	l.touch(op)
	if r := l.recorder(); r != nil {
		r.After(op)
	}
}

func (l *life) touch(op seam.Op) {
	if op.Kind != seam.Chtimes {
		timed(op, l.now())
	} else if l.skew != 0 && strings.Contains(op.Name, "metadata.json") {
		_ = os.Chtimes(filepath.Join(op.Dir, op.Name), time.Time{}, op.Time.Add(l.skew))
	}
}

func timed(op seam.Op, now time.Time) {
	file := filepath.Join(op.Dir, op.Name)
	switch op.Kind {
	case seam.Write, seam.Truncate:
		setTime(file, now)
	case seam.Chtimes, seam.Sync, seam.SyncDir:
	case seam.Create, seam.Mkdir:
		setTime(file, now)
		setTime(op.Dir, now)
	default:
		setTime(op.Dir, now)
		if op.ToDir != "" {
			setTime(op.ToDir, now)
		}
	}
}

// setTime does nothing for what is gone by now.
func setTime(path string, at time.Time) { _ = os.Chtimes(path, time.Time{}, at) }

func (l *life) setTime(path string) { setTime(path, l.now()) }

func (l *life) now() time.Time { return time.Now().Add(l.skew) }

func (l *life) dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.crashed
}

func (l *life) recorder() *crashsim.Recorder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.disk
}

func (l *life) network() (offline bool, refusal int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.offline, l.refusal
}

// set says what the network is like.
func (l *life) set(offline bool, refusal int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offline, l.refusal = offline, refusal
}

// cut crashes the device after so many steps, and records what they do to the
// disk, if disk is not nil.
func (l *life) cut(after int, disk *crashsim.Recorder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.disk = after, disk
}

// Do sends a request when it is its turn, or loses it or its answer. What the
// SDK keeps about the account for the whole process is always there.
func (l *life) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/" || r.URL.Path == "" {
		return l.next.Do(r)
	}
	body, err := peek(r)
	if err != nil {
		return nil, err
	}
	key := l.name + "\n" + r.Method + "\n" + r.URL.Path + "\n" + r.Header.Get("x-ms-documentdb-partitionkey") + "\n" + string(body)
	if err := l.order.wait(r.Context(), key); err != nil {
		return nil, err
	}
	offline, refusal := l.network()
	if offline {
		return nil, errNoNetwork
	}
	if err := l.step(); err != nil {
		return nil, err
	}
	answer, err := l.send(r, refusal)
	l.pay(answer)
	if gone := l.step(); gone != nil && err == nil {
		return nil, errors.Join(gone, answer.Body.Close())
	}
	return answer, err
}

// pay adds what an answer cost.
func (l *life) pay(answer *http.Response) {
	if answer == nil {
		return
	}
	units, _ := strconv.ParseFloat(answer.Header.Get("x-ms-request-charge"), 64)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.units += units
}

// spent returns what the device's requests have cost so far.
func (l *life) spent() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.units
}

func (l *life) send(r *http.Request, refusal int) (*http.Response, error) {
	if refusal == 0 {
		return l.next.Do(r)
	}
	text := `{"code":"Forbidden","message":"not for this device"}`
	return &http.Response{
		StatusCode: refusal, Status: http.StatusText(refusal), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}, "Date": {time.Now().UTC().Format(http.TimeFormat)}},
		Body:   io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r,
	}, nil
}

// peek returns a request's body, which stays to be read.
func peek(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}
