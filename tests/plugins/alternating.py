import atoll


class Policy:
    roles = ("memory_side", "sm_side")
    switches = True

    def __init__(self, config):
        pass

    def at_kernel_start(self, kernel, start):
        role = self.roles[kernel % 2]
        return atoll.Modes(llc=role), atoll.Decision(role)
