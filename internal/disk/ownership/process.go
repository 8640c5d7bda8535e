package ownership

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// process holds the members of a record about its writer.
type process struct {
	hostname, user string
	pid            int64
	started        string // clock ticks since boot; "" where the system does not report them
}

func thisProcess() (process, error) {
	hostname, err := os.Hostname()
	if err != nil {
		return process{}, err
	}
	p := process{hostname: hostname, user: userName(), pid: int64(os.Getpid())}
	if stat, ok := readStat("self"); ok {
		p.started = stat.started
	}
	return p, nil
}

// procStat is the status of a process on Linux.
type procStat struct {
	state   string // one letter
	started string // clock ticks since boot
}

// readStat returns the status of a process on Linux, and false where it is not known.
func readStat(pid string) (procStat, bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return procStat{}, false
	}
	return parseStat(string(data))
}

// parseStat reads fields 3 and 22 of a /proc/<pid>/stat, whose second field is
// a name in parentheses that may hold anything.
func parseStat(stat string) (procStat, bool) {
	end := strings.LastIndexByte(stat, ')')
	if fields := strings.Fields(stat[end+1:]); end >= 0 && len(fields) > 19 {
		return procStat{state: fields[0], started: fields[19]}, true
	}
	return procStat{}, false
}

// presence says whether a process still exists.
type presence uint8

const (
	unknown presence = iota // the process is not of this machine
	running
	gone
)

// find looks for the process of a record. A process of another machine, or of a container
// with a name of its own, cannot be found. started is "" if the record does not have it.
func (p process) find() presence {
	hostname, err := os.Hostname()
	if err != nil || p.hostname != hostname || p.pid <= 0 || p.pid > math.MaxInt32 {
		return unknown
	}
	stat, known := readStat(strconv.FormatInt(p.pid, 10))
	switch {
	case !known && !answers(int(p.pid)):
		return gone
	case !known:
		return running
	case stat.state == "Z", stat.state == "X": // ended, and its parent has not collected its status
		return gone
	case p.started != "" && p.started != stat.started:
		return gone // the number belongs to another process now
	}
	return running
}
