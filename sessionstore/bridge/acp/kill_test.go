package acp

import "errors"

func childAgent(_, argument string) error { return errors.New(argument) }
