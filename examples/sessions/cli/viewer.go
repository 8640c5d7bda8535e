package cli

import (
	"log/slog"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
)

type viewerCommand struct {
	SessionsRoot string `placeholder:"DIR" help:"Directory of projects, or one sessions directory (default: ~/.amplifier/projects)." group:"Where"`
	Addr         string `default:"127.0.0.1:0" placeholder:"ADDR" help:"Address on this machine to listen at; port 0: any that is free."`
	Open         bool   `help:"Start the browser."`
	NoToken      bool   `help:"Show all sessions to every user and program of this machine that asks."`
}

// Help is shown below the usage.
func (viewerCommand) Help() string {
	return `Shows sessions in a browser on this machine, live, until the program is ended. Its address is written to standard output and lets in who has it, since every user of the machine reaches a port: it ends in a token, which is another one each time. A browser that opened it gets a cookie, and the token leaves the address. The viewer changes nothing.`
}

// Run serves until the context ends.
func (c *viewerCommand) Run(a *app) error {
	places, err := web.OpenPlaces(c.SessionsRoot, nil)
	if err != nil {
		return err
	}
	a.later(places.Close)
	l, err := web.Listen(a.ctx, c.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	o := web.Options{Host: a.env(host.Variable), Open: c.Open, NoToken: c.NoToken}
	server, err := web.New(places, l.Addr(), slog.New(slog.NewTextHandler(a.Errors(), nil)), o)
	if err != nil {
		return err
	}
	url := server.URL()
	if a.json {
		err = a.writeLine(object{{"url", url}})
	} else {
		a.Printf("%s\n", url)
	}
	if err != nil {
		return err
	}
	if a.Terminal() {
		a.Notef("%s", a.PaintError(screen.Dim, "Ctrl-C ends it."))
	}
	return server.Serve(a.ctx, l)
}
