"""How a feature plugs into memory.

    feature                 the ten hooks, each of which does nothing until a feature overrides it
    question                what a feature's route is asked
    command                 a command of a feature, as a value
    wording                 words that commands have in common
    chain                   all features in their order, with what each of them may take: time and tokens

Core calls hooks through the chain and knows no feature. A feature knows core, and no other feature.
"""
